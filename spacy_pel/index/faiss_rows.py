"""What the indexes made with FAISS share: growing, searching, files."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Optional, Tuple

import faiss
import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ..errors import Errors, PelError
from ..types import Rows, Scores, Vectors
from ..util import atomic_path
from ..util.fork_safety import make_fork_safe
from .checks import check_vectors, unreadable

_FILE = "vectors.faiss"
_MANY = 32  # queries from which it pays to decode the rows once for all of them
_BLOCK = 65_536  # rows decoded at a time: 100 MB at width 384
_SCORES = 1 << 24  # scores of one matrix product: 64 MB

make_fork_safe()
# faiss's Python layer accepts arrays and keywords that its type stubs lack
_bitmap: Any = faiss.IDSelectorBitmap
_search_parameters: Any = faiss.SearchParameters


class FaissRows:
    """Compares a query with every row of codes, by inner product, after an optional rotation.

    A loaded index is memory-mapped: it opens at once and processes share its pages. A part
    says what the rotation and the codes are (``_learn``) and reads its settings back from a
    file (``_read``).
    """

    takes_selector = True  # can FAISS's own search leave rows out?

    def __init__(self) -> None:
        self.width = 0
        self._rotation: Any = None  # a faiss.LinearTransform
        self._rows: Any = None  # a faiss.Index of the codes
        self._owner: Any = None  # of the two above, where they come from a file
        self._mapped = False

    def __len__(self) -> int:
        return 0 if self._rows is None else self._rows.ntotal

    def _learn(self, vectors: Vectors) -> Tuple[Any, Any]:
        """RETURNS (Tuple): the rotation (or None) and an empty index, trained on its output."""
        raise NotImplementedError

    def _read(self) -> None:
        """Set the settings to those of the rotation and rows that were read."""
        raise NotImplementedError

    def train(self, vectors: Vectors) -> None:
        """Fix the width, learn rotation and codes, drop all rows.

        vectors (Vectors): a sample; may be empty unless ``needs_training``.
        RAISES (PelError): if the sample is too small for that.
        """
        rotation, rows = self._learn(vectors)
        self.width, self._mapped = vectors.shape[1], False
        self._rotation, self._rows = rotation, rows

    def add(self, vectors: Vectors) -> None:
        """Append vectors; their rows follow the existing ones.

        RAISES (PelError): if the width differs.
        """
        check_vectors(vectors, self.width)
        if self._mapped:
            # FAISS ends the process when a mapped index is to grow: take it into memory
            self._rows = faiss.deserialize_index(faiss.serialize_index(self._rows))
            self._mapped = False
        self._rows.add(self._rotate(vectors))

    def search(
        self, vectors: Vectors, k: int, allowed: Optional[NDArray[np.bool_]] = None
    ) -> Tuple[Scores, Rows]:
        """Find the nearest rows.

        vectors (Vectors): (n, width) queries.
        k (int): how many rows each.
        allowed (Optional[NDArray[np.bool_]]): (rows,), False = never found.
        RETURNS (Tuple[Scores, Rows]): (n, k) each, best first; row -1 where there are fewer than k.
        RAISES (PelError): if the width differs.
        """
        check_vectors(vectors, self.width)
        queries = self._rotate(vectors)
        if len(queries) >= _MANY or (allowed is not None and not self.takes_selector):
            return search_blocks(self._rows, queries, k, allowed)
        params = None
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")  # must stay alive until the search is done
            params = _search_parameters(sel=_bitmap(bits))
        scores, rows = self._rows.search(queries, k, params=params)
        return np.where(rows < 0, np.float32(-np.inf), scores), rows

    def vectors(self, start: int, stop: int) -> Vectors:
        """RETURNS (Vectors): (stop - start, width), what codes and rotation keep of these rows."""
        if self._rows is None:
            raise PelError(Errors.E403)
        kept = self._rows.reconstruct_n(start, stop - start)
        return kept if self._rotation is None else self._rotation.reverse_transform(kept)

    def to_disk(self, path: Path) -> None:
        """Write the FAISS file to a folder; FAISS alone can read and search it.

        RAISES (PelError): if the index was never trained, or the disk is full.
        """
        if self._rows is None:
            raise PelError(Errors.E403)
        whole = self._rows
        if self._rotation is not None:
            whole = faiss.IndexPreTransform(self._rotation, self._rows)
        with atomic_path(Path(path) / _FILE) as part:
            try:
                faiss.write_index(whole, str(part))
            except RuntimeError as err:  # ends with the OS error: "... (No space left on device)"
                raise OSError(0, str(err).rpartition("(")[2].strip(") \n"), str(part)) from err

    def from_disk(self, path: Path) -> Self:
        """Map the FAISS file of a folder into memory; the settings become those of the file.

        RAISES (PelError): if the file is missing or damaged.
        """
        try:
            whole: Any = faiss.read_index(str(Path(path) / _FILE), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as err:
            raise unreadable(Path(path), err, f"a complete {_FILE}") from err
        self._owner, self._mapped = whole, True
        self._rotation, self._rows = None, whole
        if isinstance(whole, faiss.IndexPreTransform):
            chain: Any = whole.chain
            self._rotation = faiss.downcast_VectorTransform(chain.at(0))
            self._rows = faiss.downcast_index(whole.index)
        self.width = whole.d
        self._read()
        return self

    def _rotate(self, vectors: Vectors) -> Vectors:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        return vectors if self._rotation is None else self._rotation.apply(vectors)


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
        for start in range(0, index.ntotal, _BLOCK):
            stop = min(start + _BLOCK, index.ntotal)
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
    """Temporarily let FAISS use matrix products for small batches too, and large ones.

    By default it leaves batches below 128,000 numbers to slow loops, and multiplies with 1,024
    rows at a time: each product ends with all threads waiting for the last one.
    """
    before = faiss.cvar.distance_compute_blas_threshold, faiss.cvar.distance_compute_blas_database_bs
    faiss.cvar.distance_compute_blas_threshold = 1
    faiss.cvar.distance_compute_blas_database_bs = max(1024, min(_BLOCK, _SCORES // n_queries))
    try:
        yield
    finally:
        faiss.cvar.distance_compute_blas_threshold, faiss.cvar.distance_compute_blas_database_bs = before
