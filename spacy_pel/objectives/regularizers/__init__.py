"""Regularizers: perturbations that make a training batch harder."""

from .regularizer import Regularizer

__all__ = ["Regularizer"]
