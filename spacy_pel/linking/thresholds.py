"""NIL thresholds from a development set."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..types import Scores

ChooseThreshold = Callable[[Scores, NDArray[np.bool_]], float]


def best_f1_threshold(nil_scores: Scores, is_nil: NDArray[np.bool_]) -> float:
    """Choose the threshold that maximises F1 of the NIL class, when a mention is NIL iff its
    score is above the threshold.

    It lies midway between two neighbouring scores; of several equally good ones the highest
    is taken (fewest mentions called NIL).

    Args:
        nil_scores: (n,).
        is_nil: (n,), True where the gold entity is not in the KB.

    Returns:
        The threshold, exact in float32.

    Raises:
        PelError: if no mention is NIL.
    """
    ranked, hits = _ranked(nil_scores, is_nil)
    called = np.arange(1, len(ranked) + 1)
    f1 = 2 * hits / (called + hits[-1])
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # no threshold separates equal scores
    return _below(ranked, int(np.argmax(f1)))


def precision_threshold(nil_scores: Scores, is_nil: NDArray[np.bool_], *, precision: float) -> float:
    """Choose the lowest threshold whose NIL precision reaches the stated one: of all such
    thresholds it finds the most NIL mentions.

    Precision is not a monotonic function of the threshold: slightly higher thresholds may miss it. It
    holds for the given mentions; on other text it will be somewhat higher or lower.

    Args:
        nil_scores: (n,).
        is_nil: (n,), True where the gold entity is not in the KB.
        precision: above 0, at most 1.

    Returns:
        The threshold, exact in float32.

    Raises:
        PelError: if no mention is NIL, or no threshold reaches the precision.
    """
    if not 0.0 < precision <= 1.0:
        raise PelError(Errors.E613.format(got=precision))
    ranked, hits = _ranked(nil_scores, is_nil)
    reached = hits / np.arange(1, len(ranked) + 1)
    reached[:-1][ranked[:-1] == ranked[1:]] = -1.0
    enough = np.flatnonzero(reached >= precision - 1e-12)
    if not len(enough):
        raise PelError(Errors.E614.format(expected=precision, best=f"{reached.max():.3f}", n=len(ranked)))
    return _below(ranked, int(enough[-1]))


def _ranked(nil_scores: Scores, is_nil: NDArray[np.bool_]) -> tuple:
    """The scores, highest first, and the number of NIL mentions up to each."""
    n_nil = int(is_nil.sum())
    if n_nil == 0:
        raise PelError(Errors.E610.format(n_nil=0, n=len(is_nil)))
    order = np.argsort(-nil_scores, kind="stable")
    return nil_scores[order].astype(np.float32), np.cumsum(is_nil[order])


def _below(ranked: Scores, cut: int) -> float:
    """A threshold that calls the mentions down to ``cut`` NIL and the next one not."""
    lowest = ranked[cut]
    if cut + 1 == len(ranked):
        return float(np.nextafter(lowest, np.float32(-np.inf)))
    below = ranked[cut + 1]
    middle = np.float32((np.float64(lowest) + np.float64(below)) / 2)
    return float(middle if middle < lowest else below)
