"""The best score of each mention, on which every NIL model builds."""

import numpy as np
from numpy.typing import NDArray

from ...types import CandidateTable, Scores

Floats = NDArray[np.float64]


def logistic(logits: Floats) -> Floats:
    """The logistic function, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * logits))  # type: ignore[no-any-return]


def best_scores(table: CandidateTable, scores: Scores) -> tuple[Floats, NDArray[np.bool_]]:
    """The best score of each mention.

    Args:
        table: the candidates of n mentions.
        scores: (m,), one per candidate.

    Returns:
        (n,) best scores, 0 where there is no candidate, and (n,) which mentions
        have candidates.
    """
    filled = np.diff(table.offsets) > 0
    best = np.zeros(len(table))
    if filled.any():
        # the starts of the filled segments cut the array into exactly these segments
        best[filled] = np.maximum.reduceat(scores, table.offsets[:-1][filled])
    return best, filled
