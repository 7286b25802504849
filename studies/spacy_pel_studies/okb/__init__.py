"""Out-of-KB data sets: entities are removed from a knowledge base, and their mentions become NIL."""

from .build import build_okb
from .choice import PAPER_TYPES, Choice, by_groups, by_share, by_types

__all__ = ["PAPER_TYPES", "Choice", "build_okb", "by_groups", "by_share", "by_types"]
