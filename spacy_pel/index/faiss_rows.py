"""What the indexes made with FAISS share: growing, searching, files."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ..errors import Errors, PelError
from ..types import Rows, Scores, Vectors
from ..util import atomic_path
from ..util.fork_safety import make_fork_safe
from ..util.part_settings import PartSettings
from ..util.saved_folder import damaged

KIND = "index"  # of the saved folder
BLOCK = 65_536  # rows decoded at a time: 100 MB at width 384
_FILE = "vectors.faiss"
_MANY = 32  # queries from which it pays to decode the rows once for all of them
_SCORES = 1 << 24  # scores of one matrix product: 64 MB

Mask = NDArray[np.bool_] | None  # over rows; None = all
Found = tuple[Scores, Rows]  # (n, k) each, best first; row -1 where there are fewer than k

make_fork_safe()
# faiss's Python layer accepts arrays and keywords that its type stubs lack
_bitmap: Any = faiss.IDSelectorBitmap
_search_parameters: Any = faiss.SearchParameters


class FaissRows(PartSettings, ABC):
    """Compares a query with every row of codes, by inner product, after an optional rotation.

    A loaded index is memory-mapped: it opens at once and processes share its pages. It is copied into memory
    before rows are added to it. A subclass defines the rotation and the codes (``_learn``), and reads its
    settings back from a file (``_read``).
    """

    takes_selector = True  # can FAISS's own search leave rows out?

    def __init__(self) -> None:
        self.width = 0
        self._rotation: Any = None  # a faiss.LinearTransform
        self._rows: Any = None  # a faiss.Index of the codes
        self._owner: Any = None  # of rotation and rows, where they come from a file
        self._mapped = False

    def __len__(self) -> int:
        return 0 if self._rows is None else int(self._rows.ntotal)

    def __reduce__(self) -> Any:
        # an EntityIndex sends its rows as files; what is left is an index that rows can be added to
        return partial(type(self), **self.settings), ()

    @property
    def precision(self) -> str | None:
        """ "fp32" or "fp16" if ``vectors`` returns what was added, rounded to that;
        None = codes or rotation lose more."""
        codes: str | None = self.settings.get("codes")
        return codes if self.settings.get("pca") is None and codes in ("fp32", "fp16") else None

    @abstractmethod
    def _learn(self, vectors: Vectors) -> tuple[Any, Any]:
        """The rotation (or None) and an empty index, trained on its output."""

    @abstractmethod
    def _read(self) -> None:
        """Set the settings to those of the rotation and rows that were read."""

    def train(self, vectors: Vectors) -> None:
        """Fix the width, learn rotation and codes, drop all rows.

        Args:
            vectors: a sample; may be empty unless ``needs_training``.

        Raises:
            PelError: if the sample is too small for that.
        """
        self._rotation, self._rows = self._learn(vectors)
        self.width, self._mapped = vectors.shape[1], False

    def add(self, vectors: Vectors) -> None:
        """Append vectors; their rows follow the existing ones.

        Raises:
            PelError: if the width differs.
        """
        self._check(vectors)
        if self._mapped:  # FAISS ends the process when a mapped index is to grow
            self._rows, self._mapped = copy_in_memory(self._rows), False
        self._rows.add(self._rotate(vectors))

    def finish(self, groups: NDArray[np.uint8] | None = None) -> None:
        """There is nothing to do once all rows are added."""

    def search(self, vectors: Vectors, k: int, allowed: Mask = None) -> Found:
        """Find the nearest rows.

        Args:
            vectors: (n, width) queries.
            k: how many rows each.
            allowed: (rows,), False = never found.

        Returns:
            (n, k) each, best first; row -1 where there are fewer than k.

        Raises:
            PelError: if the width differs.
        """
        return self.search_groups(vectors, k, [allowed])[0]

    def search_groups(self, vectors: Vectors, k: int, groups: Sequence[Mask]) -> list[Found]:
        """Find the nearest rows of each group of rows; for many queries in one pass over the rows.

        Args:
            vectors: (n, width) queries.
            k: how many rows each, of each group.
            groups: masks over the rows; None = all rows.

        Returns:
            What ``search`` finds in each of them.

        Raises:
            PelError: if the width differs.
        """
        self._check(vectors)
        return self._compare_all(self._rotate(vectors), k, groups)

    def _compare_all(self, queries: Vectors, k: int, groups: Sequence[Mask]) -> list[Found]:
        """Compare each query with all rows of each group."""
        if len(queries) >= _MANY or not self.takes_selector:
            return search_blocks(self._rows, queries, k, groups)
        return [search_rows(self._rows, queries, k, allowed) for allowed in groups]

    def vectors(self, start: int, stop: int) -> Vectors:
        """(stop - start, width), what codes and rotation keep of these rows."""
        codes = self._rows.reconstruct_n(start, stop - start)
        return codes if self._rotation is None else self._rotation.reverse_transform(codes)

    def to_disk(self, path: Path) -> None:
        """Write the FAISS file to a folder; FAISS alone can read and search it.

        Raises:
            PelError: if the disk is full.
        """
        whole = self._rows
        if self._rotation is not None:
            whole = faiss.IndexPreTransform(self._rotation, whole)
        write_faiss(whole, Path(path) / _FILE)

    def from_disk(self, path: Path) -> Self:
        """Map the FAISS file of a folder into memory; the settings become those of the file.

        Raises:
            PelError: if the file is missing or damaged.
        """
        whole = read_faiss(Path(path), _FILE)
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

    def _check(self, vectors: Vectors) -> None:
        if not self.width:
            raise PelError(Errors.E403)
        if vectors.ndim != 2 or vectors.shape[1] != self.width:
            raise PelError(Errors.E402.format(expected=self.width, got=vectors.shape))


def write_faiss(index: Any, path: Path) -> None:
    """Raises:
    OSError: if the file cannot be written.
    """
    with atomic_path(path) as part:
        try:
            faiss.write_index(index, str(part))
        except RuntimeError as err:  # ends with the OS error: "... (No space left on device)"
            raise OSError(0, str(err).rpartition("(")[2].strip(") \n"), str(part)) from err


def read_faiss(folder: Path, name: str, *, flags: int = faiss.IO_FLAG_MMAP_IFC) -> Any:
    """Args:
        flags: of FAISS's reader; by default it maps what it can.

    Returns:
        The index.

    Raises:
        PelError: if the file is missing or damaged.
    """
    try:
        return faiss.read_index(str(folder / name), flags)
    except RuntimeError as err:
        raise unreadable(folder, err, f"a complete {name}") from err


def copy_in_memory(index: Any) -> Any:
    """A copy that can grow, also of a mapped index."""
    return faiss.deserialize_index(faiss.serialize_index(index))


def unreadable(path: Path, err: Exception, file: str = "readable files") -> PelError:
    """The error for a file of an index folder that cannot be read."""
    return damaged(path, KIND, file, (str(err) or type(err).__name__).strip().splitlines()[0])


def selector(allowed: NDArray[np.bool_]) -> tuple[Any, Any]:
    """FAISS's selector of these rows, and what must live as long as it is used."""
    bits = np.packbits(allowed, bitorder="little")
    return _bitmap(bits), bits


def search_rows(index: Any, queries: Vectors, k: int, allowed: Mask) -> Found:
    """Search a flat index with FAISS's own search."""
    params = None
    if allowed is not None:
        chosen, _bits = selector(allowed)
        params = _search_parameters(sel=chosen)
    scores, rows = index.search(queries, k, params=params)
    return np.where(rows < 0, np.float32(-np.inf), scores), rows


def search_blocks(index: Any, queries: Vectors, k: int, groups: Sequence[Mask]) -> list[Found]:
    """Search groups of rows of a flat index for many queries, faster than FAISS's own search.

    FAISS decodes a row of codes again for every query and tests a mask row by row; here a block is
    decoded once for all queries and groups, and rows that are not allowed are left out.

    Args:
        index: a flat index with inner product.
        queries: (n, width).
        k: how many rows each, of each group.
        groups: (rows,) each, False = never found; None = all rows.

    Returns:
        (n, k) each, best first; row -1 where there are fewer than k.
    """
    heaps = [faiss.ResultHeap(len(queries), k, keep_max=True) for _ in groups]
    with few_large_products(len(queries)):
        for start in range(0, index.ntotal, BLOCK):
            stop = min(start + BLOCK, index.ntotal)
            wanted = [
                np.arange(stop - start) if allowed is None else np.flatnonzero(allowed[start:stop])
                for allowed in groups
            ]
            block = _decoded(index, start, stop) if sum(map(len, wanted)) > (stop - start) // 4 else None
            for heap, ids in zip(heaps, wanted, strict=True):
                if len(ids):
                    vectors = index.reconstruct_batch(start + ids) if block is None else _taken(block, ids)
                    scores, rows = faiss.knn(queries, vectors, min(k, len(ids)), metric=faiss.METRIC_INNER_PRODUCT)
                    heap.add_result(scores, (start + ids)[rows])
    return [finished(heap) for heap in heaps]


def finished(heap: faiss.ResultHeap) -> Found:
    """The best rows that a heap was given."""
    heap.finalize()
    return np.where(heap.I < 0, np.float32(-np.inf), heap.D), heap.I


def _taken(block: Vectors, ids: Rows) -> Vectors:
    """Ascending rows of a block; a view where they are consecutive."""
    if ids[-1] - ids[0] + 1 == len(ids):
        return block[ids[0] : ids[-1] + 1]
    return block[ids]


def _decoded(index: faiss.Index, start: int, stop: int) -> Vectors:
    if isinstance(index, faiss.IndexFlat):  # a view, also of a mapped file
        values = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
        return values.reshape(-1, index.d)[start:stop]
    return index.reconstruct_n(start, stop - start)


@contextmanager
def few_large_products(n_queries: int) -> Iterator[None]:
    """Temporarily let FAISS use matrix products for small batches too, and large ones.

    By default it leaves batches below 128,000 numbers to slow loops, and multiplies with 1,024
    rows at a time: each product ends with all threads waiting for the last one.
    """
    before = faiss.cvar.distance_compute_blas_threshold, faiss.cvar.distance_compute_blas_database_bs
    faiss.cvar.distance_compute_blas_threshold = 1
    faiss.cvar.distance_compute_blas_database_bs = max(1024, min(BLOCK, _SCORES // max(1, n_queries)))
    try:
        yield
    finally:
        faiss.cvar.distance_compute_blas_threshold, faiss.cvar.distance_compute_blas_database_bs = before
