"""Regularizers: perturbations that make a training batch harder."""

from .regularizer import GradientRegularizer, Regularizer

__all__ = ["GradientRegularizer", "Regularizer"]
