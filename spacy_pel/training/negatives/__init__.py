"""Negative samplers: which entities serve as negatives of a mention."""

from .draw import Draw, DrawRequest, NegativeSampler
from .mined_negatives import MinedNegatives
