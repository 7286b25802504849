"""Recall@k of candidates, with and without NIL as a class, and the mean reciprocal rank."""

import numpy as np
from numpy.typing import NDArray

from .outcomes import Outcomes

RECALL_AT = (1, 2, 4, 5, 8, 16, 32, 64)


def recall_at(rank: NDArray[np.int64], k: int) -> float:
    """Share of the mentions with 1 <= rank <= k; 0.0 if there are none."""
    return share(found_within(rank, k))


def recall_all_at(outcomes: Outcomes, k: int) -> float:
    """Recall@k over all classes, NIL among them: the measure of the paper's Table 4. The decision
    comes first: a mention that is called NIL has no other answer, however large k is.

    Returns:
        Share of all mentions that are NIL and called so, or are not called NIL and
        have their gold entity among the first k.
    """
    found = found_within(outcomes.rank, k) & ~outcomes.is_nil
    return share(np.where(outcomes.called_nil, outcomes.is_nil, found))


def reciprocal_rank(rank: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,), 1 / rank; 0 for a rank of 0."""
    return np.where(rank >= 1, 1.0 / np.maximum(rank, 1), 0.0)


def found_within(rank: NDArray[np.int64], k: int) -> NDArray[np.bool_]:
    """(n,), the gold entity is among the first k candidates."""
    return (rank >= 1) & (rank <= k)


def share(flags: NDArray[np.bool_]) -> float:
    """Share of flags that are set; 0.0 if there are none."""
    return float(flags.mean()) if len(flags) else 0.0


def precision_recall_f1(name: str, hits: float, n_found: float, n_gold: float) -> dict[str, float]:
    """ "NAME_precision", "NAME_recall" and "NAME_f1"; 0 where the denominator is 0."""
    return {
        f"{name}_precision": hits / n_found if n_found else 0.0,
        f"{name}_recall": hits / n_gold if n_gold else 0.0,
        f"{name}_f1": 2 * hits / (n_found + n_gold) if n_found + n_gold else 0.0,
    }
