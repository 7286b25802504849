"""Negatives from the whole knowledge base: random, hard, or some of each (Wiatrak et al. 2022, section 5.3.1)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...util.config import MANY, check_range
from .draw import Draw, DrawRequest, as_sets, not_gold


@dataclass(kw_only=True, eq=False)
class KnowledgeBaseNegatives(ABC):
    """Hard negatives of each mention, or of the batch, and random ones, except the gold entities. Where fewer
    were mined (a small knowledge base, or nothing yet), random ones fill the rest.

    Args:
        n_negatives: per mention, hard and random ones together.
        shared: one draw for the whole batch; mentions contribute their nearest in turn.
        in_batch: the positives of other mentions are negatives too.
        depth: number of nearest entities that the hard ones are drawn from; None = as many as are drawn.
    """

    n_negatives: int = 64
    shared: bool = False
    in_batch: bool = False
    depth: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        for name, value in (("n_negatives", self.n_negatives), ("depth", self.depth)):
            check_range(name, value, least=1, most=MANY)
        self.n_hard = self._n_hard()

    @abstractmethod
    def _n_hard(self) -> int:
        """The number of hard ones."""

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

    def _hard_of_each(self, request: DrawRequest) -> NDArray[np.int64]:
        """(mentions, n_hard) of the ``depth`` nearest of each mention, or all of them if depth is n_hard."""
        nearest = request.mined.take(request.examples, self.mined_depth)
        if self.mined_depth > self.n_hard:
            nearest = np.take_along_axis(nearest, _random_order(nearest, request.rng), axis=1)
        drawn = np.full((len(request), self.n_hard), -1, dtype=np.int64)
        drawn[:, : nearest.shape[1]] = nearest[:, : self.n_hard]
        return np.where(drawn < 0, request.rng.integers(request.n_rows, size=drawn.shape), drawn)

    def _hard_of_batch(self, request: DrawRequest) -> NDArray[np.int64]:
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
class RandomNegatives(KnowledgeBaseNegatives):
    """Uniform over the knowledge base, except the gold entities.

    Args:
        n_negatives: per mention; 32 or 64 in the paper.
        shared: one draw for the whole batch, cheaper by a factor of the batch size; False = one
            draw per mention, as in the paper.
        in_batch: the positives of other mentions are negatives too.
    """

    def _n_hard(self) -> int:
        return 0

    def sample(self, request: DrawRequest) -> Draw:
        """n_negatives entities, or n_negatives for each mention. If the knowledge base has fewer entities than
        are drawn, entities repeat."""
        return self.draw(request)


@registry.pel_negatives("spacy-pel.HardNegatives.v1")
@dataclass(kw_only=True, eq=False)
class HardNegatives(KnowledgeBaseNegatives):
    """The entities whose cards are nearest to a mention, except the gold ones. The trainer mines them over the
    whole knowledge base, on the schedule of ``[pel.training.mining]`` (a choice: the paper has "regular
    intervals"); where a mention has fewer, random ones fill the rest.

    Args:
        n_negatives: per mention; 32 or 64 in the paper.
        depth: number of nearest entities that they are drawn from; None = n_negatives. With a
            larger depth the draw changes from batch to batch and has fewer unlabelled synonyms.
        shared: one draw for the whole batch; mentions contribute their nearest in turn.
        in_batch: the positives of other mentions are negatives too.
    """

    depth: int | None = None

    def _n_hard(self) -> int:
        return self.n_negatives


@registry.pel_negatives("spacy-pel.MixedNegatives.v1")
@dataclass(kw_only=True, eq=False)
class MixedNegatives(KnowledgeBaseNegatives):
    """Mixed-p: p percent hard, the rest uniform over the knowledge base, except the gold entities (p = 50 in the
    paper). See HardNegatives for the hard ones.

    Args:
        n_negatives: per mention, hard and random ones together; 32 or 64 in the paper.
        percent: share of hard ones, 0 to 100.
        depth: number of nearest entities that the hard ones are drawn from; None = as many as are
            drawn.
        shared: one draw for the whole batch.
        in_batch: the positives of other mentions are negatives too.
    """

    percent: float = 50.0
    depth: int | None = None

    def _n_hard(self) -> int:
        check_range("percent", self.percent, least=0, most=100)
        return round(self.n_negatives * self.percent / 100)


def _random_order(nearest: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Columns of each row in random order; those without an entity, -1, last."""
    return np.where(nearest < 0, 2.0, rng.random(nearest.shape)).argsort(axis=1, kind="stable")
