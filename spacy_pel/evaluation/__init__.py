from .evaluate import evaluate, evaluate_end_to_end
from .metrics import compute_metrics
from .outcomes import Outcomes
from .predict import gold_prediction
from .prediction import Prediction
from .seen import seen_in_corpus, seen_in_index

__all__ = [
    "Outcomes",
    "Prediction",
    "compute_metrics",
    "evaluate",
    "evaluate_end_to_end",
    "gold_prediction",
    "seen_in_corpus",
    "seen_in_index",
]
