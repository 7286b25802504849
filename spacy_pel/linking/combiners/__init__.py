from .best_row import BestRow
from .linear import LinearCombiner

__all__ = ["BestRow", "LinearCombiner"]
