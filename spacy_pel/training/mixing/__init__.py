"""Mixing: makes or selects the negatives of a mention from those in the batch."""

from .mixing import Mixing, StrongNegatives

__all__ = ["Mixing", "StrongNegatives"]
