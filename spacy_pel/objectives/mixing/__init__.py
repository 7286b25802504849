"""Mixing: negatives of a mention made from, or chosen among, those that the batch has for it."""

from .mixing import Mixing, StrongNegatives

__all__ = ["Mixing", "StrongNegatives"]
