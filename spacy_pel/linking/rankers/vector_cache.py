"""A cache of entity vectors, since the same candidates recur."""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from ...encoders.representations import Representations
from ...types import Entity, Vectors

EncodeEntities = Callable[[list[Entity]], Representations]


class VectorCache:
    """Representations of the most recently used entities. An entity whose names change counts as a new one.

    Args:
        size: vectors at most; an entity has one, or one for each of its tokens. 0 = nothing is kept.
    """

    def __init__(self, size: int):
        self.size = size
        self.n_vectors = 0
        self._kept: OrderedDict[Entity, Vectors] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Empty the cache: the weights have changed."""
        self._kept.clear()
        self.n_vectors = 0

    def represent(self, entities: Sequence[Entity], encode: EncodeEntities) -> Representations:
        """Represent entities; only new ones are encoded.

        Args:
            entities: n distinct ones, at least one.
            encode: represents some entities.

        Returns:
            (n,), in the order of the entities.
        """
        missing = [entity for entity in entities if entity not in self._kept]
        fresh = dict(zip(missing, encode(missing).texts(), strict=True)) if missing else {}
        found = [fresh[entity] if entity in fresh else self._kept[entity] for entity in entities]
        for entity in entities:
            if entity in fresh:
                self._kept[entity] = fresh[entity].copy()  # a view would keep the whole batch
                self.n_vectors += _count(fresh[entity])
            self._kept.move_to_end(entity)
        while self.n_vectors > self.size:
            self.n_vectors -= _count(self._kept.popitem(last=False)[1])
        return Representations.of(found)


def _count(vectors: Vectors) -> int:
    return 1 if vectors.ndim == 1 else len(vectors)
