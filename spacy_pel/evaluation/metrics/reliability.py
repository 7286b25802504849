"""Is P(NIL) calibrated? Reliability curve, expected calibration error and Brier score."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .outcomes import Flags, Floats

N_BINS = 15


class Reliability(NamedTuple):
    """A reliability curve: one entry per bin that holds mentions.

    probability: (b,) float64, mean P(NIL) of the bin's mentions.
    share: (b,) float64, share of the bin's mentions that are NIL.
    n: (b,) int64, number of mentions.
    """

    probability: Floats
    share: Floats
    n: NDArray[np.int64]

    @property
    def error(self) -> float:
        """The expected calibration error: the distance of probability and share,
        averaged over all mentions (Naeini et al. 2015; Guo et al. 2017, Eq. 3)."""
        return float(np.sum(self.n * np.abs(self.probability - self.share)) / self.n.sum())


# By hand, since scikit-learn's calibration_curve gives no counts, which the calibration error needs, and
# puts a score at the edge of two bins into the lower one.


def reliability_curve(scores: Floats, truth: Flags, n_bins: int = N_BINS) -> Reliability | None:
    """Compare probabilities with outcomes, in bins of equal width; a bin's lower edge belongs to it.

    Args:
        scores: (n,).
        truth: (n,).
        n_bins: number of bins between 0 and 1.

    Returns:
        None if there are no scores, or one is NaN, below 0 or above 1 and thus
        not a probability.
    """
    if not len(scores) or not (scores.min() >= 0.0 and scores.max() <= 1.0):
        return None
    bins = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    filled = n > 0
    probability = np.bincount(bins, weights=scores, minlength=n_bins)[filled] / n[filled]
    share = np.bincount(bins, weights=truth.astype(np.float64), minlength=n_bins)[filled] / n[filled]
    return Reliability(probability, share, n[filled])


def reliability_metrics(scores: Floats, truth: Flags) -> dict[str, Any]:
    """ "nil_ece", "nil_brier" (the mean squared distance) and
    "nil_reliability", the curve's points as [probability, share, mentions]; None, None and []
    where the scores are not probabilities."""
    curve = reliability_curve(scores, truth)
    if curve is None:
        return {"nil_ece": None, "nil_brier": None, "nil_reliability": []}
    points: list[list[float]] = [[float(p), float(share), int(n)] for p, share, n in zip(*curve, strict=True)]
    return {"nil_ece": curve.error, "nil_brier": float(np.mean((scores - truth) ** 2)), "nil_reliability": points}
