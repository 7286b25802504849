from .offset_map import OffsetMap
from .original import Original, original_id, original_span
from .preprocess import Preprocessor, preprocess
from .restore import restored

__all__ = ["OffsetMap", "Original", "Preprocessor", "original_id", "original_span", "preprocess", "restored"]
