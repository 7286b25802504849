"""The input and output of a negative sampler: the mentions of a batch, and the entities drawn for them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .mined_negatives import MinedNegatives


@dataclass
class DrawRequest:
    """The mentions of a batch.

    Entities are numbered 0..n_rows, one number for each live concept: all names of a concept, and retired
    ids that lead to it, share its number, so none of them can be its negative.

    examples: (n,) example numbers, the keys of ``mined``.
    gold: for each mention the numbers of its gold entities.
    n_rows: entities to draw from.
    rng: source of randomness.
    mined: nearest wrong entities of the examples; empty before the first mining.
    """

    examples: NDArray[np.int64]
    gold: Sequence[NDArray[np.int64]]
    n_rows: int
    rng: np.random.Generator
    mined: MinedNegatives = field(default_factory=MinedNegatives.empty)

    def __len__(self) -> int:
        return len(self.gold)


@dataclass
class Draw:
    """Entities to encode in addition to the batch's positives, and the mentions they are negatives of.

    rows: (m,) int64, numbers of entities.
    mask: (n, m) bool, True = entity j is a negative of mention i.
    in_batch: whether the other mentions' positives are negatives too.
    """

    rows: NDArray[np.int64]
    mask: NDArray[np.bool_]
    in_batch: bool


@runtime_checkable
class NegativeSampler(Protocol):
    """Draws negatives for a batch; the gold entities of a mention are never its negatives.

    ``mined_depth`` is the number of mined entities that it uses per mention; 0 = no mining needed.
    """

    @property
    def mined_depth(self) -> int: ...

    def sample(self, request: DrawRequest) -> Draw: ...


def not_gold(rows: NDArray[np.int64], gold: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """(len(gold), len(rows)) bool, False where a row is gold for the mention."""
    return np.stack([~np.isin(rows, ids) for ids in gold]) if gold else np.zeros((0, len(rows)), bool)


def as_sets(draw: Draw) -> Draw:
    """Remove duplicates: each entity is encoded once and counts once per mention.

    Returns:
        Distinct entities, ascending, each a negative of at least one mention.
    """
    rows, number = np.unique(draw.rows, return_inverse=True)
    mask = np.zeros((len(draw.mask), len(rows)), dtype=bool)
    mentions, columns = np.nonzero(draw.mask)
    mask[mentions, number.reshape(-1)[columns]] = True
    used = mask.any(axis=0)
    return Draw(rows[used].astype(np.int64), mask[:, used], draw.in_batch)
