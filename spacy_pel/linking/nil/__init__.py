from .logistic import LogisticNil
from .network import NetworkNil
from .score_threshold import ScoreThreshold
from .thresholds import best_f1_threshold, precision_threshold
