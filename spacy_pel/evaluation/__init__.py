from .evaluate import evaluate, evaluate_end_to_end
from .metrics.all_metrics import compute_metrics
from .outcomes import Outcomes, Prediction
from .predict import gold_prediction, seen_in_corpus, seen_in_index
