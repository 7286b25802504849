from .offset_map import OffsetMap
from .original import Original, original_id, original_span
from .preprocess import Preprocessor, preprocess
from .restore import restored
