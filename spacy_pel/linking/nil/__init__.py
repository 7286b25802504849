from .isotonic import IsotonicNil
from .logistic import LogisticNil
from .platt import PlattNil
from .score_threshold import ScoreThreshold
from .threshold import best_f1_threshold, precision_threshold

__all__ = [
    "IsotonicNil",
    "LogisticNil",
    "PlattNil",
    "ScoreThreshold",
    "best_f1_threshold",
    "precision_threshold",
]
