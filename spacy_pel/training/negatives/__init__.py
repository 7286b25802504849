"""Negative samplers: which entities serve as negatives of a mention."""

from .draw import Draw, DrawRequest, NegativeSampler
from .mining.table import MinedNegatives

__all__ = ["Draw", "DrawRequest", "MinedNegatives", "NegativeSampler"]
