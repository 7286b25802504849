"""Fitting a NIL threshold for each label, and the threshold without a fitted one."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import PelError, Warnings
from ..types import Scores
from ..util import logger

Threshold = None | float | Mapping[str, float]  # as in the settings
ChooseThreshold = Callable[[Scores, NDArray[np.bool_]], float]


def fit_by_label(
    choose: ChooseThreshold, labels: Sequence[str], nil_scores: Scores, is_nil: NDArray[np.bool_], *, least: int
) -> dict[str, float]:
    """Fit a threshold for each label that has enough mentions.

    Args:
        choose: e.g. ``best_f1_threshold``.
        labels: (n,), of the mentions.
        nil_scores: (n,).
        is_nil: (n,).
        least: minimum number of NIL mentions, and of others, for a label.

    Returns:
        Label -> threshold; a label without one uses the common threshold.
    """
    thresholds: dict[str, float] = {}
    for label in sorted(set(labels)):
        own = np.array([each == label for each in labels], dtype=np.bool_)
        n_nil, n = int(is_nil[own].sum()), int(own.sum())
        if min(n_nil, n - n_nil) < max(1, least):
            continue
        try:
            thresholds[label] = choose(nil_scores[own], is_nil[own])
        except PelError as err:  # the required precision may be unreachable for one label
            logger.warning(Warnings.W502.format(label=label, reason=err))
    return thresholds


def even_threshold(best: NDArray[np.float64]) -> NDArray[np.float64]:
    """The P(NIL) above which NIL is more probable than the first candidate, whose P(right) is
    best x (1 - P(NIL)).

    Args:
        best: (n,), the first candidate's share of its mention's scores.

    Returns:
        (n,)
    """
    return best / (1.0 + best)
