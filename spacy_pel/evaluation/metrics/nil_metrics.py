"""Precision, recall and the area under their curve for the NIL class."""

from typing import Dict, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def precision_recall_f1(called: Flags, truth: Flags) -> Dict[str, float]:
    """RETURNS (Dict[str, float]): "precision", "recall", "f1"; 0 where nothing is there to divide by."""
    hits = float((called & truth).sum())
    n_called, n_true = float(called.sum()), float(truth.sum())
    return {
        "precision": hits / n_called if n_called else 0.0,
        "recall": hits / n_true if n_true else 0.0,
        "f1": 2 * hits / (n_called + n_true) if n_called + n_true else 0.0,
    }


def precision_recall_curve(
    scores: Floats, truth: Flags, weights: Optional[Floats] = None
) -> Tuple[Floats, Floats, Floats]:
    """Precision and recall when everything scored at least as high as a threshold is called true.

    scores (Floats): (n,), higher = more likely true.
    truth (Flags): (n,).
    weights (Optional[Floats]): (n,), e.g. how often a bootstrap sample drew each one.
    RETURNS (tuple): precision, recall and threshold, one per distinct score, highest first.
    """
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    weight = np.ones(len(scores)) if weights is None else weights[order]
    last_of_score = np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)]  # equal scores move together
    hits = np.cumsum(weight * truth[order])[last_of_score]
    called = np.cumsum(weight)[last_of_score]
    total = hits[-1] if len(hits) else 0.0
    precision = hits / np.maximum(called, 1e-12)
    recall = hits / total if total else np.zeros_like(hits)
    return precision, recall, ranked[last_of_score]


def average_precision(scores: Floats, truth: Flags, weights: Optional[Floats] = None) -> float:
    """Area under the precision-recall curve as a sum of steps, without interpolation
    (as scikit-learn's ``average_precision_score``).

    RETURNS (float): 0.0 if nothing is true.
    """
    precision, recall, _ = precision_recall_curve(scores, truth, weights)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))
