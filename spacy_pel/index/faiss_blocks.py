"""Many queries at once: decode the rows block by block, compare by matrix products."""

from contextlib import contextmanager
from typing import Iterator, Optional, Tuple

import faiss
import numpy as np
from numpy.typing import NDArray

from ..types import Rows, Scores, Vectors

_ROWS = 65_536  # of a block: 100 MB at width 384
_SCORES = 1 << 24  # of a matrix product: 64 MB


def search_blocks(
    index: faiss.Index, queries: Vectors, k: int, allowed: Optional[NDArray[np.bool_]] = None
) -> Tuple[Scores, Rows]:
    """What ``index.search`` gives, for many queries in less time.

    FAISS decodes a row of codes again for every query and tests an ``allowed`` mask
    row by row; here a block is decoded once, and rows that are not allowed are left out.

    index (faiss.Index): flat, with inner product.
    queries (Vectors): (n, width).
    k (int): how many rows each.
    allowed (Optional[NDArray[np.bool_]]): (rows,), False = never found.
    RETURNS (Tuple[Scores, Rows]): (n, k) each, best first; row -1 where there are fewer than k.
    """
    heap = faiss.ResultHeap(len(queries), k, keep_max=True)
    with _few_large_products(len(queries)):
        for start in range(0, index.ntotal, _ROWS):
            stop = min(start + _ROWS, index.ntotal)
            ids = np.arange(start, stop)
            if allowed is not None:
                ids = ids[allowed[start:stop]]
            if len(ids) == 0:
                continue
            block = _decoded(index, start, stop)
            if len(ids) < stop - start:
                block = block[ids - start]
            scores, rows = faiss.knn(queries, block, min(k, len(ids)), metric=faiss.METRIC_INNER_PRODUCT)
            heap.add_result(scores, ids[rows])
    heap.finalize()
    return np.where(heap.I < 0, np.float32(-np.inf), heap.D), heap.I


def _decoded(index: faiss.Index, start: int, stop: int) -> Vectors:
    if isinstance(index, faiss.IndexFlat):  # a view, also of a mapped file
        values = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
        return values.reshape(-1, index.d)[start:stop]
    return index.reconstruct_n(start, stop - start)


@contextmanager
def _few_large_products(n_queries: int) -> Iterator[None]:
    """For a while, let FAISS use matrix products for small batches too, and large ones.

    By default it leaves batches below 128,000 numbers to slow loops, and multiplies with 1,024
    rows at a time: each product ends with all threads waiting for the last one.
    """
    before = faiss.cvar.distance_compute_blas_threshold, faiss.cvar.distance_compute_blas_database_bs
    faiss.cvar.distance_compute_blas_threshold = 1
    faiss.cvar.distance_compute_blas_database_bs = max(1024, min(_ROWS, _SCORES // n_queries))
    try:
        yield
    finally:
        faiss.cvar.distance_compute_blas_threshold, faiss.cvar.distance_compute_blas_database_bs = before
