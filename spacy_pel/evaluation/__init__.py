from .evaluate import evaluate, evaluate_end_to_end
from .metrics.all_metrics import compute_metrics
from .metrics.outcomes import Outcomes
from .metrics.seen import seen_in_corpus, seen_in_index
from .predict import gold_prediction
from .prediction import Prediction
