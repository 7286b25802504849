"""What the indexes made with FAISS share: codes, growing, searching, files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import faiss
import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ..errors import Errors, PelError
from ..types import Mask, Rows, Scores, Vectors
from ..util import atomic_path
from ..util.config import PartSettings
from ..util.processes import make_fork_safe
from ..util.saved_folder import damaged

KIND = "index"  # of the saved folder
BLOCK = 65_536  # rows decoded at a time: 100 MB at width 384
_FILE = "vectors.faiss"
_MANY = 32  # queries from which it pays to decode the rows once for all of them
_SCORES = 1 << 24  # scores of one matrix product: 64 MB
_CENTROIDS = 256  # of a byte
_FACTORY = {"fp32": "Flat", "fp16": "SQfp16", "int8": "SQ8"}  # FAISS's names

Codes = Literal["fp32", "fp16", "int8", "pq"]
Found = tuple[Scores, Rows]  # (n, k) each, best first; row -1 where there are fewer than k

make_fork_safe()
# faiss's Python layer accepts arrays and keywords that its type stubs lack
_bitmap: Any = faiss.IDSelectorBitmap
_search_parameters: Any = faiss.SearchParameters


class FaissRows(PartSettings):
    """Compares a query with every row of codes, by inner product, after an optional rotation.

    A loaded index is memory-mapped: it opens at once and processes share its pages. It is copied into memory
    before rows are added to it.

    Args:
        codes: how a row is stored; None = as "fp32".
        pca: number of principal directions of the vectors to keep; None = all.
        row_bytes: bytes of a row of codes "pq"; None = a quarter of the width.
        rotate: first learn a rotation that makes codes "pq" more precise.
    """

    name: str

    def __init__(
        self, codes: Codes | None, *, pca: int | None = None, row_bytes: int | None = None, rotate: bool = True
    ) -> None:
        self.codes = codes
        self.pca = pca
        self.row_bytes = row_bytes
        self.rotate = rotate
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
    def needs_training(self) -> bool:
        """Do the codes depend on a sample of the vectors?"""
        return self.codes in ("int8", "pq") or self.pca is not None

    @property
    def precision(self) -> str | None:
        """ "fp32" or "fp16" if ``vectors`` returns what was added, rounded to that;
        None = codes or rotation lose more."""
        return self.codes if self.pca is None and self.codes in ("fp32", "fp16") else None

    def train(self, vectors: Vectors) -> None:
        """Fix the width, learn rotation and codes, drop all rows.

        Args:
            vectors: a sample; may be empty unless ``needs_training``.

        Raises:
            PelError: if the sample is too small for that.
        """
        if self.codes == "pq":
            self._rotation, self._rows = _product_quantizer(vectors, self.row_bytes, self.rotate)
        else:
            self._rotation, self._rows = _scalar_codes(vectors, self.codes or "fp32", self.pca)
        self.width, self._mapped = vectors.shape[1], False
        self._read_settings()

    def _read_settings(self) -> None:
        """Set the settings to those of the rotation and the rows."""
        self.codes, self.pca, self.row_bytes = "fp32", None, None
        if isinstance(self._rows, faiss.IndexPQ):
            self.codes, self.row_bytes, self.rotate = "pq", self._rows.pq.M, self._rotation is not None
            return
        self.pca = None if self._rotation is None else self._rows.d
        if not isinstance(self._rows, faiss.IndexFlat):
            self.codes = "fp16" if self._rows.sq.qtype == faiss.ScalarQuantizer.QT_fp16 else "int8"

    def add(self, vectors: Vectors) -> None:
        """Append vectors; their rows follow the existing ones.

        Raises:
            PelError: if the width differs.
        """
        rotated = self._rotate(vectors)
        if self._mapped:  # FAISS ends the process when a mapped index is to grow
            self._rows, self._mapped = copy_in_memory(self._rows), False
        self._rows.add(rotated)

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
        """Find the nearest rows of each group of rows.

        Args:
            vectors: (n, width) queries.
            k: how many rows each, of each group.
            groups: masks over the rows; None = all rows.

        Returns:
            What ``search`` finds in each of them.

        Raises:
            PelError: if the width differs.
        """
        queries = self._rotate(vectors)
        return [self._search(queries, k, allowed) for allowed in groups]

    def _search(self, queries: Vectors, k: int, allowed: Mask) -> Found:
        """Compare each rotated query with all rows allowed."""
        # an IndexPQ takes no selector
        if len(queries) < _MANY and not isinstance(self._rows, faiss.IndexPQ):
            chosen = None if allowed is None else selector(allowed)
            params = None if chosen is None else _search_parameters(sel=chosen[0])
            return _none_below(*self._rows.search(queries, k, params=params))
        return search_blocks(self._rows, queries, k, allowed)

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
        whole = read_faiss(Path(path) / _FILE, flags=faiss.IO_FLAG_MMAP_IFC)
        self._owner, self._mapped = whole, True
        self._rotation, self._rows = None, whole
        if isinstance(whole, faiss.IndexPreTransform):
            chain: Any = whole.chain
            self._rotation = faiss.downcast_VectorTransform(chain.at(0))
            self._rows = faiss.downcast_index(whole.index)
        self.width = whole.d
        self._read_settings()
        return self

    def _rotate(self, vectors: Vectors) -> Vectors:
        if not self.width:
            raise PelError(Errors.E403)
        if vectors.ndim != 2 or vectors.shape[1] != self.width:
            raise PelError(Errors.E402.format(expected=self.width, got=vectors.shape))
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        return vectors if self._rotation is None else self._rotation.apply(vectors)


# --- codes


def check_codes(codes: str, known: Sequence[str] = tuple(_FACTORY)) -> None:
    """Raises:
    PelError: if there are no such codes.
    """
    if codes not in known:
        raise PelError(Errors.E412.format(known=", ".join(known), got=codes))


def _scalar_codes(vectors: Vectors, codes: str, pca: int | None) -> tuple[Any, Any]:
    """A rotation (or None) and an empty index, trained on its output."""
    width = vectors.shape[1]
    least = 0 if codes != "int8" and pca is None else max(pca or 1, 1)
    if len(vectors) < least or (pca is not None and not 0 < pca <= width):
        raise PelError(Errors.E404.format(codes=codes, pca=pca, least=least, n=len(vectors), width=width))
    rotation = None if pca is None else _principal_rotation(vectors, pca)
    rows: Any = faiss.index_factory(pca or width, _FACTORY[codes], faiss.METRIC_INNER_PRODUCT)
    if least:
        rows.train(vectors if rotation is None else rotation.apply(vectors))
    return rotation, rows


def _product_quantizer(vectors: Vectors, row_bytes: int | None, rotate: bool) -> tuple[Any, Any]:
    """A rotation (or None) and an empty index, trained on its output."""
    width = vectors.shape[1]
    row_bytes = max(width // 4, 1) if row_bytes is None else row_bytes
    if row_bytes < 1 or width % row_bytes or not len(vectors):
        got = f"row_bytes {row_bytes}, width {width}, {len(vectors)} vectors"
        raise PelError(Errors.E413.format(got=got))
    if len(vectors) < _CENTROIDS:  # a small knowledge base: its own rows are the centroids
        vectors = np.resize(vectors, (_CENTROIDS, width))
    rows: Any = faiss.index_factory(width, f"PQ{row_bytes}np", faiss.METRIC_INNER_PRODUCT)
    rows.pq.cp.min_points_per_centroid = 1  # no warnings on the console about small samples
    rotation: Any = None
    if rotate:
        rotation = faiss.OPQMatrix(width, row_bytes)
        rotation.niter = 4  # the default is 50: most of the gain is in the first, each takes ten seconds
        rotation.pq = rows.pq
        rotation.train(vectors)
        vectors = rotation.apply(vectors)
    rows.train(vectors)
    return rotation, rows


def _principal_rotation(vectors: Vectors, width: int) -> faiss.LinearTransform:
    """The directions that preserve inner products best: those with the largest second moments.

    Unlike in a textbook PCA the mean is not subtracted, as that would change the ranking.
    """
    moments = vectors.T.astype(np.float64) @ vectors
    _, directions = np.linalg.eigh(moments)  # ascending
    matrix = np.ascontiguousarray(directions[:, ::-1][:, :width].T, dtype=np.float32)
    rotation = faiss.LinearTransform(vectors.shape[1], width, False)
    faiss.copy_array_to_vector(matrix.ravel(), rotation.A)
    rotation.is_trained = True
    rotation.set_is_orthonormal()
    return rotation


# --- files


def write_faiss(index: Any, path: Path) -> None:
    """Raises:
    OSError: if the file cannot be written.
    """
    with atomic_path(path) as part:
        try:
            faiss.write_index(index, str(part))
        except RuntimeError as err:  # ends with the OS error: "... (No space left on device)"
            raise OSError(0, str(err).rpartition("(")[2].strip(") \n"), str(part)) from err


def read_faiss(path: Path, *, flags: int = 0) -> Any:
    """Args:
        flags: of FAISS's reader.

    Returns:
        The index.

    Raises:
        PelError: if the file is missing or damaged.
    """
    try:
        return faiss.read_index(str(path), flags)
    except RuntimeError as err:
        raise unreadable(path.parent, err, f"a complete {path.name}") from err


def copy_in_memory(index: Any) -> Any:
    """A copy that can grow, also of a mapped index."""
    return faiss.deserialize_index(faiss.serialize_index(index))


def unreadable(path: Path, err: Exception, file: str = "readable files") -> PelError:
    """The error for a file of an index folder that cannot be read."""
    return damaged(path, KIND, file, (str(err) or type(err).__name__).strip().splitlines()[0])


# --- search


def selector(allowed: NDArray[np.bool_]) -> tuple[Any, Any]:
    """FAISS's selector of these rows, and what must live as long as it is used."""
    bits = np.packbits(allowed, bitorder="little")
    return _bitmap(bits), bits


def search_blocks(index: Any, queries: Vectors, k: int, allowed: Mask) -> Found:
    """Search a flat index for many queries, faster than FAISS's own search.

    FAISS decodes a row of codes again for every query and tests a mask row by row; here a block is
    decoded once for all queries, and rows that are not allowed are left out.

    Args:
        index: a flat index with inner product.
        queries: (n, width).
        k: how many rows each.
        allowed: (rows,), False = never found; None = all rows.

    Returns:
        (n, k) each, best first; row -1 where there are fewer than k.
    """
    ids = np.arange(index.ntotal) if allowed is None else np.flatnonzero(allowed)
    found = []
    with few_large_products(len(queries)):
        for start in range(0, len(ids), BLOCK):
            block = ids[start : start + BLOCK]
            decoded = _decoded(index, block)
            scores, rows = faiss.knn(queries, decoded, min(k, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
            found.append((scores, block[rows]))
    return best_of(found, len(queries), k)


def best_of(found: Sequence[Found], n_queries: int, k: int) -> Found:
    """The best k rows for each query; no row occurs in two results."""
    heap = faiss.ResultHeap(n_queries, k, keep_max=True)
    for scores, rows in found:
        heap.add_result(scores, rows)
    heap.finalize()
    return _none_below(heap.D, heap.I)


def _none_below(scores: Scores, rows: Rows) -> Found:
    return np.where(rows < 0, np.float32(-np.inf), scores), rows


def _decoded(index: faiss.Index, ids: Rows) -> Vectors:
    """Ascending rows; a view of fp32 rows that follow each other, also in a mapped file."""
    first, end = int(ids[0]), int(ids[-1]) + 1
    if isinstance(index, faiss.IndexFlat):
        values = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d).reshape(-1, index.d)
        return values[first:end] if end - first == len(ids) else values[ids]
    return index.reconstruct_n(first, len(ids)) if end - first == len(ids) else index.reconstruct_batch(ids)


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
