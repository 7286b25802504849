from .evaluate import evaluate, evaluate_end_to_end
from .metrics import compute_metrics
from .outcomes import Outcomes
from .prediction import Prediction
from .seen import seen_in_corpus, seen_in_index

__all__ = [
    "Outcomes",
    "Prediction",
    "compute_metrics",
    "evaluate",
    "evaluate_end_to_end",
    "seen_in_corpus",
    "seen_in_index",
]
