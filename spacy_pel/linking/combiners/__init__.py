from .best_row import BestRow
from .linear import LinearCombiner
