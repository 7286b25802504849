"""Negatives of a mention: which entities a sampler draws for it, at random or from a table of mined ones (Wiatrak et
al. 2022, section 5.3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from ..encoders.similarities import Encoded
from ..errors import Errors, PelError
from ..registry import registry
from ..types import Flags, Numbers, Rows
from ..util import atomic_path
from ..util.arrays import look_up
from ..util.config import MANY, check_range


@dataclass
class MinedNegatives:
    """Row i holds the negatives of example ``examples[i]``. The arrays may be memory-mapped.

    examples: (n,) int64, ascending; examples that were not mined are not in the table.
    rows: (n, depth) int32, numbers of entities, the nearest first; -1 = no more.
    """

    examples: Numbers
    rows: NDArray[np.int32]

    @classmethod
    def empty(cls) -> "MinedNegatives":
        """An empty table."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int32))

    @property
    def depth(self) -> int:
        return self.rows.shape[1]

    def has(self, examples: Numbers) -> Flags:
        """(n,) bool, whether an example was mined."""
        return np.isin(examples, self.examples)

    def take(self, examples: Numbers, depth: int) -> Numbers:
        """Look examples up.

        Args:
            examples: (n,) example numbers.
            depth: entities per example.

        Returns:
            (n, depth) int64, nearest first; -1 where there is none.
        """
        taken = np.full((len(examples), depth), -1, dtype=np.int64)
        if len(self.examples):
            position, mined = look_up(self.examples, examples)
            width = min(depth, self.depth)
            taken[mined, :width] = self.rows[position[mined], :width]
        return taken

    def to_disk(self, path: Path) -> None:
        """Write two .npy files into a folder, atomically."""
        with atomic_path(path) as part:
            part.mkdir()
            np.save(part / "examples.npy", self.examples)
            np.save(part / "rows.npy", self.rows)

    @classmethod
    def from_disk(cls, path: Path) -> "MinedNegatives":
        """Memory-mapped. RAISES (PelError): if a file is missing or damaged."""
        try:
            arrays = [np.load(path / name, mmap_mode="r") for name in ("examples.npy", "rows.npy")]
        except (OSError, ValueError, EOFError) as err:
            raise PelError(Errors.E320.format(path=path, got=err)) from err
        if len(arrays[0]) != len(arrays[1]):
            raise PelError(Errors.E320.format(path=path, got="its files have different lengths"))
        return cls(*arrays)


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

    examples: Numbers
    gold: Sequence[Rows]
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

    rows: Rows
    mask: Flags
    in_batch: bool


@runtime_checkable
class NegativeSampler(Protocol):
    """Draws negatives for a batch; the gold entities of a mention are never its negatives.

    ``mined_depth`` is the number of mined entities that it uses per mention; 0 = no mining needed.
    """

    @property
    def mined_depth(self) -> int: ...

    def sample(self, request: DrawRequest) -> Draw: ...


class StrongNegatives(NamedTuple):
    """Negatives of each mention.

    entities: (n, k, d), or ``TokenVectors`` of (n, k, length, d).
    mask: (n, k) bool, False = a mention has fewer.
    weights: (n,) W of each mention.
    """

    entities: Encoded
    mask: Tensor
    weights: Tensor


@runtime_checkable
class Mixing(Protocol):
    """Makes the negatives of the loss from those of the batch."""

    def strong_negatives(self, entities: Encoded, scores: Tensor, mask: Tensor) -> StrongNegatives:
        """Args:
            entities: m of them, the positive of mention i at position i.
            scores: (n, m), of all mentions and entities, detached.
            mask: (n, m) bool, True = entity j is a negative of mention i.

        Returns:
            Attached to the graph of the entities.
        """
        ...


def not_gold(rows: Rows, gold: Sequence[Rows]) -> Flags:
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


@registry.pel_negatives("spacy-pel.InBatchNegatives.v1")
class InBatchNegatives:
    """The positives of the other mentions in the batch. Their number follows from the batch size, and
    frequent entities are drawn more often than under uniform sampling.
    """

    mined_depth = 0

    def sample(self, request: DrawRequest) -> Draw:
        """No further entities."""
        return Draw(np.zeros(0, dtype=np.int64), np.zeros((len(request), 0), dtype=bool), in_batch=True)


@registry.pel_negatives("spacy-pel.MixedNegatives.v1")
@dataclass(kw_only=True, eq=False)
class MixedNegatives:
    """Mixed-p: p percent hard, the entities whose cards are nearest to a mention, and the rest uniform over the
    knowledge base; the gold entities aside (p = 50 in the paper). The trainer mines the hard ones over the whole
    knowledge base, on the schedule of ``[pel.training.mining]`` (a choice: the paper has "regular intervals");
    where a mention has fewer (a small knowledge base, or nothing yet), random ones fill the rest.

    Args:
        n_negatives: per mention, hard and random ones together; 32 or 64 in the paper.
        percent: share of hard ones, 0 to 100.
        depth: number of nearest entities that the hard ones are drawn from; None = as many as are drawn. With a
            larger depth the draw changes from batch to batch and has fewer unlabelled synonyms.
        shared: one draw for the whole batch, cheaper by a factor of the batch size; mentions contribute their
            nearest in turn. False = one draw per mention, as in the paper.
        in_batch: the positives of other mentions are negatives too.
    """

    n_negatives: int = 64
    percent: float = 50.0
    depth: int | None = None
    shared: bool = False
    in_batch: bool = False

    def __post_init__(self) -> None:
        for name, value in (("n_negatives", self.n_negatives), ("depth", self.depth)):
            check_range(name, value, least=1, most=MANY)
        check_range("percent", self.percent, least=0, most=100)
        self.n_hard = round(self.n_negatives * self.percent / 100)

    @property
    def mined_depth(self) -> int:
        return self.n_hard and (self.depth or self.n_hard)

    def sample(self, request: DrawRequest) -> Draw:
        """Distinct entities: at most n_negatives, or n_negatives for each mention."""
        return as_sets(self.draw(request))

    def draw(self, request: DrawRequest) -> Draw:
        """n_negatives entities, or n_negatives for each mention; some may be drawn repeatedly."""
        n, n_random = len(request), self.n_negatives - self.n_hard
        if self.shared:
            random = request.rng.integers
            rows = np.concatenate([self._hard_of_batch(request), random(request.n_rows, size=n_random)])
            return Draw(rows, not_gold(rows, request.gold), self.in_batch)
        each = [self._hard_of_each(request), request.rng.integers(request.n_rows, size=(n, n_random))]
        rows = np.concatenate(each, axis=1).ravel()
        own_column = np.repeat(np.arange(n), self.n_negatives)[None, :] == np.arange(n)[:, None]
        return Draw(rows, not_gold(rows, request.gold) & own_column, self.in_batch)

    def _hard_of_each(self, request: DrawRequest) -> Numbers:
        """(mentions, n_hard) of the ``depth`` nearest of each mention, or all of them if depth is n_hard."""
        nearest = request.mined.take(request.examples, self.mined_depth)
        if self.mined_depth > self.n_hard:
            nearest = np.take_along_axis(nearest, _random_order(nearest, request.rng), axis=1)
        drawn = np.full((len(request), self.n_hard), -1, dtype=np.int64)
        drawn[:, : nearest.shape[1]] = nearest[:, : self.n_hard]
        return np.where(drawn < 0, request.rng.integers(request.n_rows, size=drawn.shape), drawn)

    def _hard_of_batch(self, request: DrawRequest) -> Numbers:
        """(n_hard,) distinct entities; mentions contribute their nearest in turn."""
        if not self.n_hard:
            return np.zeros(0, dtype=np.int64)
        nearest = request.mined.take(request.examples, self.mined_depth)
        shuffled = np.take_along_axis(nearest, _random_order(nearest, request.rng), axis=1)
        in_turn = shuffled[request.rng.permutation(len(request))].T.ravel()
        in_turn = in_turn[in_turn >= 0]
        _, firsts = np.unique(in_turn, return_index=True)
        drawn = in_turn[np.sort(firsts)][: self.n_hard]
        return np.concatenate([drawn, request.rng.integers(request.n_rows, size=self.n_hard - len(drawn))])


@registry.pel_negatives("spacy-pel.RandomNegatives.v1")
@dataclass(kw_only=True, eq=False)
class RandomNegatives(MixedNegatives):
    """Uniform over the knowledge base, except the gold entities. See ``MixedNegatives`` for the settings."""

    percent: float = field(default=0.0, init=False)
    depth: int | None = field(default=None, init=False)

    def sample(self, request: DrawRequest) -> Draw:
        """n_negatives entities, or n_negatives for each mention. If the knowledge base has fewer entities than
        are drawn, entities repeat."""
        return self.draw(request)


@registry.pel_negatives("spacy-pel.HardNegatives.v1")
@dataclass(kw_only=True, eq=False)
class HardNegatives(MixedNegatives):
    """The entities whose cards are nearest to a mention, except the gold ones. See ``MixedNegatives`` for the
    settings."""

    percent: float = field(default=100.0, init=False)


def _random_order(nearest: Numbers, rng: np.random.Generator) -> Numbers:
    """Columns of each row in random order; those without an entity, -1, last."""
    return np.where(nearest < 0, 2.0, rng.random(nearest.shape)).argsort(axis=1, kind="stable")
