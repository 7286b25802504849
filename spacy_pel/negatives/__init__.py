"""Negative samplers: which other entities a mention is pushed away from."""

from .draw import Draw, DrawRequest, NegativeSampler
from .mining.table import MinedNegatives

__all__ = ["Draw", "DrawRequest", "MinedNegatives", "NegativeSampler"]
