"""Negative samplers: which other entities a mention is pushed away from."""

from .draw import Draw, NegativeSampler

__all__ = ["Draw", "NegativeSampler"]
