"""Exact search over sparse vectors with the interface of nmslib's index that scispaCy calls."""

from typing import List, Tuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

_BLOCK = 256  # queries multiplied at a time


class ExactSparseIndex:
    """Stands in for nmslib's HNSW index in scispaCy's CandidateGenerator.

    It finds the true nearest neighbours, so its recall is an upper bound of what the approximate
    index gives. Distances are 1 - cosine, as in nmslib's space "cosinesimil_sparse".

    vectors (csr_matrix): (n, width), rows of length 1.
    """

    def __init__(self, vectors: csr_matrix) -> None:
        self._transposed = vectors.T.tocsr()

    def __len__(self) -> int:
        return self._transposed.shape[1]

    def knnQueryBatch(
        self, queries: csr_matrix, k: int, num_threads: int = 1
    ) -> List[Tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """RETURNS (List[tuple]): rows and distances of each query's k nearest, nearest first;
        rows without a common n-gram (cosine 0) are left out. Equal distances: lower row first."""
        results = []
        for start in range(0, queries.shape[0], _BLOCK):
            block = (queries[start : start + _BLOCK] @ self._transposed).tocsr()
            for begin, end in zip(block.indptr[:-1], block.indptr[1:], strict=True):
                rows, cosines = block.indices[begin:end], block.data[begin:end]
                if len(rows) > k:
                    # everything as near as the k-th is kept until ties are settled by row
                    kept = cosines >= np.partition(cosines, -k)[-k]
                    rows, cosines = rows[kept], cosines[kept]
                order = np.lexsort((rows, -cosines))[:k]
                results.append((rows[order], 1.0 - cosines[order]))
        return results
