"""What a negative sampler gives to a batch."""

from dataclasses import dataclass
from typing import Protocol, Sequence, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@dataclass
class Draw:
    """Entities to encode beside the batch's positives, and for whom they are negatives.

    rows: (m,) int64, rows of the knowledge base.
    mask: (n, m) bool, True = entity j is a negative of mention i.
    in_batch: whether the other mentions' positives are negatives too.
    """

    rows: NDArray[np.int64]
    mask: NDArray[np.bool_]
    in_batch: bool


@runtime_checkable
class NegativeSampler(Protocol):
    """Draws negatives for a batch; the gold entities of a mention are never its negatives."""

    def sample(self, gold: Sequence[NDArray[np.int64]], n_rows: int, rng: np.random.Generator) -> Draw: ...


def not_gold(rows: NDArray[np.int64], gold: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """RETURNS (NDArray): (len(gold), len(rows)) bool, False where a row is gold for a mention."""
    return np.stack([~np.isin(rows, ids) for ids in gold]) if gold else np.zeros((0, len(rows)), bool)
