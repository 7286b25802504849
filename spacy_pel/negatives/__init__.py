"""Negative samplers: which other entities a mention is pushed away from."""

from .draw import Draw, DrawRequest, NegativeSampler
from .mining.mined import MinedTable

__all__ = ["Draw", "DrawRequest", "MinedTable", "NegativeSampler"]
