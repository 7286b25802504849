"""Exact search over sparse vectors with the interface of the nmslib index that scispaCy calls."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .sparse_rows import SparseRows


class ExactNeighbours:
    """Replaces nmslib's HNSW index in scispaCy's CandidateGenerator.

    It finds the true nearest neighbours, so its recall is an upper bound of what the approximate
    index gives. Distances are 1 - cosine, as in nmslib's space "cosinesimil_sparse".

    Args:
        rows: of length 1.
    """

    def __init__(self, rows: SparseRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def knnQueryBatch(
        self, queries: csr_matrix, k: int, num_threads: int = 1
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Rows and distances of each query's k nearest, nearest first;
        rows without a common n-gram (cosine 0) are left out. Equal distances: lower row first."""
        found = self._rows.search(queries, k)
        ends = found.offsets[1:-1]
        return list(zip(np.split(found.rows, ends), np.split(1.0 - found.scores, ends), strict=True))
