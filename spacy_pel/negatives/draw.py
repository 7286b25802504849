"""What a negative sampler is asked, and what it gives to a batch."""

from dataclasses import dataclass, field
from typing import Protocol, Sequence, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .mining.mined import MinedTable


@dataclass
class DrawRequest:
    """The mentions of a batch and what is known of them.

    Entities are counted 0..n_rows, one place for each live concept: names of one concept and
    retired ids that lead to it have the same place, so that none of them can be its negative.

    examples: (n,) example numbers, the keys of ``mined``.
    gold: for each mention the places of its gold entities.
    n_rows: entities to draw from.
    rng: decides the draw.
    mined: nearest other entities of the examples; empty before anything was mined.
    """

    examples: NDArray[np.int64]
    gold: Sequence[NDArray[np.int64]]
    n_rows: int
    rng: np.random.Generator
    mined: MinedTable = field(default_factory=MinedTable.empty)

    def __len__(self) -> int:
        return len(self.gold)


@dataclass
class Draw:
    """Entities to encode beside the batch's positives, and for whom they are negatives.

    rows: (m,) int64, places of entities.
    mask: (n, m) bool, True = entity j is a negative of mention i.
    in_batch: whether the other mentions' positives are negatives too.
    """

    rows: NDArray[np.int64]
    mask: NDArray[np.bool_]
    in_batch: bool


@runtime_checkable
class NegativeSampler(Protocol):
    """Draws negatives for a batch; the gold entities of a mention are never its negatives.

    ``mined_depth`` is how many mined entities of a mention it looks at; 0 = nothing has to be mined.
    """

    @property
    def mined_depth(self) -> int: ...

    def sample(self, request: DrawRequest) -> Draw: ...


def not_gold(rows: NDArray[np.int64], gold: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """RETURNS (NDArray): (len(gold), len(rows)) bool, False where a row is gold for a mention."""
    return np.stack([~np.isin(rows, ids) for ids in gold]) if gold else np.zeros((0, len(rows)), bool)


def own_columns(n: int, each: int) -> NDArray[np.bool_]:
    """RETURNS (NDArray): (n, n * each) bool, True where a column belongs to the mention."""
    return np.repeat(np.arange(n), each)[None, :] == np.arange(n)[:, None]


def as_sets(draw: Draw) -> Draw:
    """Each entity once: it is encoded once, and counts once for a mention that drew it twice.

    RETURNS (Draw): distinct entities, ascending; those that are nobody's negative are left out.
    """
    rows, place = np.unique(draw.rows, return_inverse=True)
    mask = np.zeros((len(draw.mask), len(rows)), dtype=bool)
    mentions, columns = np.nonzero(draw.mask)
    mask[mentions, place.reshape(-1)[columns]] = True
    used = mask.any(axis=0)
    return Draw(rows[used].astype(np.int64), mask[:, used], draw.in_batch)
