"""The nearest entities of many mentions, each within its own part of a knowledge base, such as a wiki."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_pel.training.mining import TopK
from spacy_pel.types import Rows, Scores, Vectors


class PartsTopK:
    """One search per part of the knowledge base.

    Args:
        queries, k, device: as for ``TopK``.
        of_query: (n,) the part of each query.
        of_entity: (n_entities,) the part of each entity.
    """

    def __init__(
        self,
        queries: Vectors,
        k: int,
        of_query: NDArray[np.int64],
        of_entity: NDArray[np.int64],
        device: Any | None = None,
    ):
        self.of_entity = of_entity
        self.shape = (len(queries), min(k, len(of_entity)))
        self.queries_of = {int(part): np.flatnonzero(of_query == part) for part in np.unique(of_query)}
        self.searches: dict[int, TopK] = {
            part: TopK(queries[numbers], k, device) for part, numbers in self.queries_of.items()
        }

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """Args:
        rows: (m,). vectors (Vectors): (m, width).
        """
        of_row = self.of_entity[rows]
        for part, search in self.searches.items():
            chosen = of_row == part
            if chosen.any():
                search.add(rows[chosen], vectors[chosen])

    def result(self) -> tuple[Scores, Rows]:
        """(n, k) each; -inf and -1 where a part has fewer than k entities."""
        scores = np.full(self.shape, -np.inf, dtype=np.float32)
        rows = np.full(self.shape, -1, dtype=np.int64)
        for part, search in self.searches.items():
            part_scores, part_rows = search.result()
            width = part_rows.shape[1]
            scores[self.queries_of[part], :width] = part_scores
            rows[self.queries_of[part], :width] = part_rows
        return scores, rows
