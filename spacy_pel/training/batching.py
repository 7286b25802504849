"""What batches are made of: rows by label, sequences of similar length, and entities without some of their names,
where these would give the answer away."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache

import numpy as np

from ..kb import KnowledgeBase
from ..types import Entity, Numbers
from ..util import normalize_alias
from ..util.arrays import Ragged, offsets_of


class LabelIndex(Ragged):
    """The rows with label i are ``values[offsets[i]:offsets[i + 1]]``."""

    @classmethod
    def from_labels(cls, labels: Numbers, n_labels: int) -> "LabelIndex":
        """Args:
        labels: label of each row, 0 <= label < n_labels.
        """
        return cls(np.argsort(labels, kind="stable"), offsets_of(np.bincount(labels, minlength=n_labels)))

    def draw(self, labels: Numbers, rng: np.random.Generator) -> Numbers:
        """Draw one row of each label, uniformly.

        Args:
            labels: (n,).

        Returns:
            (n,), -1 where no row has the label.
        """
        first, size = self.offsets[labels], self.lengths[labels]
        drawn = first + (rng.random(len(labels)) * size).astype(np.int64)
        if not len(self.values):
            return np.full(len(labels), -1)
        return np.where(size > 0, self.values[np.minimum(drawn, len(self.values) - 1)], -1)


_POOL = 50  # batches whose members are sorted by length together


def length_batches(order: Numbers, lengths: Numbers, batch_size: int) -> list[Numbers]:
    """Cut an order into batches, sorted by length within pools of batches.

    Args:
        order: numbers of sequences, shuffled.
        lengths: of all sequences, by number.
        batch_size: the last batch of a pool may be smaller.

    Returns:
        The batches, ascending in length within a pool; shuffle them too.
    """
    batches: list[Numbers] = []
    for start in range(0, len(order), batch_size * _POOL):
        pool = order[start : start + batch_size * _POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return batches


def without_names(entity: Entity, hidden: Collection[str]) -> Entity:
    """Without the names whose normal form is hidden; the same entity if it has none of these, or no other name."""
    names = [entity.canonical_name, *entity.aliases]
    shown = [name for name in names if normalize_alias(name) not in hidden]
    if not shown or len(shown) == len(names):
        return entity
    return replace(entity, canonical_name=shown[0], aliases=tuple(shown[1:]))


class EntityTexts:
    """Distinct entities of a knowledge base, some of them without some of their names.

    Args:
        kb: holds the entities.
    """

    def __init__(self, kb: KnowledgeBase):
        self._entity_at = cache(kb.entity_at)
        self._positions: dict[Entity, int] = {}

    @property
    def entities(self) -> list[Entity]:
        """Those that were asked for, by position."""
        return list(self._positions)

    def position(self, row: int, hidden: tuple[str, ...] = ()) -> int:
        """Position in ``entities`` of the entity of a KB row without the hidden names, which are in normal form."""
        return self._positions.setdefault(without_names(self._entity_at(row), hidden), len(self._positions))
