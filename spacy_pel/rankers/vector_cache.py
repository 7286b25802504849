"""Vectors of entities that were met before: candidates come again and again."""

from collections import OrderedDict
from typing import Callable, List, Sequence

import numpy as np
from numpy.typing import NDArray

from ..encoders.representations import Representations
from ..types import Entity

EncodeEntities = Callable[[List[Entity]], Representations]


class VectorCache:
    """The vectors of the entities that were asked for last. An entity whose names change is another one.

    size (int): entities at most; 0 = nothing is kept.
    """

    def __init__(self, size: int):
        self.size = size
        self._kept: OrderedDict[Entity, NDArray[np.float32]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forget all: the weights have changed."""
        self._kept.clear()

    def vectors(self, entities: Sequence[Entity], encode: EncodeEntities) -> Representations:
        """Vectors of entities, of which only new ones are encoded.

        entities (Sequence[Entity]): n distinct ones, at least one.
        encode (EncodeEntities): gives the vectors of some entities.
        RETURNS (Representations): (n,).
        """
        missing = [entity for entity in entities if entity not in self._kept]
        fresh = dict(zip(missing, encode(missing).texts(), strict=True)) if missing else {}
        found = Representations.of([fresh[e] if e in fresh else self._kept[e] for e in entities])
        for entity in entities:
            if entity in fresh:
                self._kept[entity] = fresh[entity].copy()  # a view would keep the whole batch
            self._kept.move_to_end(entity)
        while len(self._kept) > self.size:
            self._kept.popitem(last=False)
        return found
