"""Regularizers: what makes a training batch harder than it is."""

from .regularizer import Regularizer

__all__ = ["Regularizer"]
