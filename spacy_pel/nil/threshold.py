"""The NIL threshold with the best F1 on a development set."""

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..types import Scores


def best_f1_threshold(nil_scores: Scores, is_nil: NDArray[np.bool_]) -> float:
    """Choose the threshold that maximises F1 of the NIL class, when a mention is NIL iff its
    score is above the threshold.

    It lies midway between two neighbouring scores; of several equally good ones the highest
    is taken (fewest mentions called NIL).

    nil_scores (Scores): (n,).
    is_nil (NDArray[np.bool_]): (n,), True where the gold entity is not in the KB.
    RETURNS (float): the threshold, exact in float32.
    RAISES (PelError): if no mention is NIL.
    """
    n_nil = int(is_nil.sum())
    if n_nil == 0:
        raise PelError(Errors.E610.format(n_nil=0, n=len(is_nil)))
    order = np.argsort(-nil_scores, kind="stable")
    ranked = nil_scores[order].astype(np.float32)
    hits = np.cumsum(is_nil[order])
    called = np.arange(1, len(ranked) + 1)
    f1 = 2 * hits / (called + n_nil)
    f1[:-1][ranked[:-1] == ranked[1:]] = -1.0  # equal scores cannot be told apart
    cut = int(np.argmax(f1))
    lowest = ranked[cut]
    if cut + 1 == len(ranked):
        return float(np.nextafter(lowest, np.float32(-np.inf)))
    below = ranked[cut + 1]
    middle = np.float32((np.float64(lowest) + np.float64(below)) / 2)
    return float(middle if middle < lowest else below)
