from .isotonic import IsotonicNil
from .logistic import LogisticNil
from .network import NetworkNil
from .platt import PlattNil
from .pretrained import PretrainedLogisticNil
from .score_threshold import ScoreThreshold
from .threshold import best_f1_threshold, precision_threshold

__all__ = [
    "IsotonicNil",
    "LogisticNil",
    "NetworkNil",
    "PlattNil",
    "PretrainedLogisticNil",
    "ScoreThreshold",
    "best_f1_threshold",
    "precision_threshold",
]
