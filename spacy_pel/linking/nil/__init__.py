from .logistic import LogisticNil
from .network import NetworkNil
from .score_threshold import ScoreThreshold
