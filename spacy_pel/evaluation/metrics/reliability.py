"""Is P(NIL) a probability: the reliability curve, the expected calibration error, the Brier score."""

from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from .nil_metrics import Flags, Floats

N_BINS = 15


class Reliability(NamedTuple):
    """A reliability curve: one entry per bin that holds mentions.

    probability: (b,) float64, mean P(NIL) of the bin's mentions.
    share: (b,) float64, share of them that is NIL.
    n: (b,) int64, how many they are.
    """

    probability: Floats
    share: Floats
    n: NDArray[np.int64]

    @property
    def error(self) -> float:
        """RETURNS (float): the expected calibration error, the mean distance of probability and
        share over all mentions (Naeini et al. 2015; Guo et al. 2017, Eq. 3)."""
        return float(np.sum(self.n * np.abs(self.probability - self.share)) / self.n.sum())


def reliability_curve(scores: Floats, truth: Flags, n_bins: int = N_BINS) -> Optional[Reliability]:
    """Compare probabilities with what came true, in bins of equal width; the last one is closed.

    scores (Floats): (n,).
    truth (Flags): (n,).
    n_bins (int): between 0 and 1.
    RETURNS (Optional[Reliability]): None if there is nothing, or a score is below 0 or above 1:
        then they are no probabilities.
    """
    if not len(scores) or scores.min() < 0.0 or scores.max() > 1.0:
        return None
    bins = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    filled = n > 0
    probability = np.bincount(bins, weights=scores, minlength=n_bins)[filled] / n[filled]
    share = np.bincount(bins, weights=truth.astype(np.float64), minlength=n_bins)[filled] / n[filled]
    return Reliability(probability, share, n[filled])


def reliability_metrics(scores: Floats, truth: Flags) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): "nil_ece", "nil_brier" (the mean squared distance) and
    "nil_reliability", the curve's points as [probability, share, mentions]; None, None and []
    where the scores are no probabilities."""
    curve = reliability_curve(scores, truth)
    if curve is None:
        return {"nil_ece": None, "nil_brier": None, "nil_reliability": []}
    points: List[List[float]] = [[float(p), float(share), int(n)] for p, share, n in zip(*curve, strict=True)]
    return {
        "nil_ece": curve.error,
        "nil_brier": float(np.mean((scores - truth) ** 2)),
        "nil_reliability": points,
    }
