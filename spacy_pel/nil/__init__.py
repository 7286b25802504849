from .logistic import LogisticNil
from .score_threshold import ScoreThreshold
from .threshold import best_f1_threshold

__all__ = ["LogisticNil", "ScoreThreshold", "best_f1_threshold"]
