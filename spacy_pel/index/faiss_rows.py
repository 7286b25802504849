"""Rows of codes in FAISS, as functions: codes by FAISS's factory, files, and exact search."""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import faiss
import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..types import Mask, Rows, Scores, Vectors
from ..util import atomic_path
from ..util.processes import make_fork_safe
from ..util.saved_folder import reading

KIND = "index"  # of the saved folder
BLOCK = 65_536  # rows decoded at a time: 100 MB at width 384
_CENTROIDS = 256  # of a byte
_NEVER = 1 << 30  # queries from which FAISS multiplies matrices
_FACTORY = {"fp32": "Flat", "fp16": "SQfp16", "int8": "SQ8", "pq": "PQ{}np"}  # FAISS's names

Codes = Literal["fp32", "fp16", "int8", "pq"]
CODES: tuple[Codes, ...] = ("fp32", "fp16", "int8", "pq")
Found = tuple[Scores, Rows]  # (n, k) each, best first; row -1 where there are fewer than k

make_fork_safe()
# faiss's Python layer accepts arrays and keywords that its type stubs lack
_bitmap: Any = faiss.IDSelectorBitmap
_search_parameters: Any = faiss.SearchParameters


# --- codes


def empty_rows(vectors: Vectors, codes: Codes, row_bytes: int | None = None) -> tuple[Any, Any]:
    """Learn codes.

    Args:
        vectors: a sample; may be empty for "fp32" and "fp16".
        codes: how a row is stored.
        row_bytes: of codes "pq"; None = a quarter of the width.

    Returns:
        A rotation that makes codes "pq" more precise (optimised product quantisation, Ge et al. 2013), else None;
        and an index without rows, for vectors that are rotated.

    Raises:
        PelError: if the sample is too small, or the bytes do not divide the width.
    """
    width = vectors.shape[1]
    if codes == "pq":
        return _product_quantizer(vectors, max(width // 4, 1) if row_bytes is None else row_bytes)
    rows: Any = faiss.index_factory(width, _FACTORY[codes], faiss.METRIC_INNER_PRODUCT)
    if codes == "int8":
        if not len(vectors):
            raise PelError(Errors.E404.format(codes=codes))
        rows.train(vectors)
    return None, rows


def _product_quantizer(vectors: Vectors, row_bytes: int) -> tuple[Any, Any]:
    width = vectors.shape[1]
    if row_bytes < 1 or width % row_bytes or not len(vectors):
        got = f"row_bytes {row_bytes}, width {width}, {len(vectors)} vectors"
        raise PelError(Errors.E413.format(got=got))
    if len(vectors) < _CENTROIDS:  # a small knowledge base: its own rows are the centroids
        vectors = np.resize(vectors, (_CENTROIDS, width))
    rows: Any = faiss.index_factory(width, _FACTORY["pq"].format(row_bytes), faiss.METRIC_INNER_PRODUCT)
    rows.pq.cp.min_points_per_centroid = 1  # no warnings on the console about small samples
    rotation: Any = faiss.OPQMatrix(width, row_bytes)
    rotation.niter = 4  # the default is 50: most of the gain is in the first, each takes ten seconds
    rotation.pq = rows.pq
    rotation.train(vectors)
    rows.train(rotation.apply(vectors))
    return rotation, rows


def codes_of(rows: Any) -> Codes:
    """How an index stores its rows."""
    if isinstance(rows, faiss.IndexPQ):
        return "pq"
    if isinstance(rows, faiss.IndexFlat):
        return "fp32"
    return "fp16" if rows.sq.qtype == faiss.ScalarQuantizer.QT_fp16 else "int8"


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
    with reading(path.parent, KIND, f"a complete {path.name}"):
        return faiss.read_index(str(path), flags)


def copy_in_memory(index: Any) -> Any:
    """A copy that can grow, also of a mapped index."""
    return faiss.deserialize_index(faiss.serialize_index(index))


def write_lists(lists: Any, path: Path) -> None:
    """Write inverted lists: what FAISS learned to PATH.faiss, and sizes, codes and numbers of rows to PATH.npz, since
    FAISS takes 8 bytes for the number of a row. Ascending ones are compressed to a fraction of a byte."""
    inverted: Any = faiss.downcast_InvertedLists(lists.invlists)
    sizes = np.array([inverted.list_size(number) for number in range(lists.nlist)], dtype=np.int32)
    codes = [_codes_in(inverted, number) for number in np.flatnonzero(sizes).tolist()]
    steps = np.diff(rows_in(lists), prepend=0).astype("<i4")
    empty = copy_in_memory(lists)
    empty.reset()
    write_faiss(empty, path.with_suffix(".faiss"))
    with atomic_path(path.with_suffix(".npz")) as part, part.open("wb") as file:
        columns = {"sizes": sizes, "codes": np.concatenate([np.empty(0, np.uint8), *codes])}
        np.savez(file, **columns, steps=np.frombuffer(zlib.compress(steps.tobytes()), dtype=np.uint8))


def read_lists(path: Path) -> tuple[Any, Rows]:
    """What ``write_lists`` wrote, in memory, and the numbers of the rows.

    Raises:
        PelError: if a file is missing or damaged.
    """
    lists = read_faiss(path.with_suffix(".faiss"))
    inverted: Any = faiss.downcast_InvertedLists(lists.invlists)
    file = path.with_suffix(".npz")
    with reading(path.parent, KIND, f"a complete {file.name}"):
        with np.load(file, allow_pickle=False) as saved:
            sizes, codes, steps = saved["sizes"], saved["codes"], zlib.decompress(saved["steps"].tobytes())
        ids = np.cumsum(np.frombuffer(steps, dtype="<i4"), dtype=np.int64)
        if len(sizes) != lists.nlist or sizes.sum() != len(ids):
            raise ValueError(f"{len(sizes)} lists with {len(ids)} rows")
        for number, own_ids in enumerate(np.split(ids, np.cumsum(sizes)[:-1])):
            if len(own_ids):
                inverted.resize(number, len(own_ids))
                own = _codes_in(inverted, number)
                own[:], codes = codes[: len(own)], codes[len(own) :]
                faiss.rev_swig_ptr(inverted.get_ids(number), len(own_ids))[:] = own_ids
    lists.ntotal = len(ids)
    return lists, ids


def rows_in(lists: Any) -> Rows:
    """The numbers of the rows, list by list."""
    inverted: Any = faiss.downcast_InvertedLists(lists.invlists)
    sizes = [(number, inverted.list_size(number)) for number in range(lists.nlist)]
    # an empty list has no array
    ids = [faiss.rev_swig_ptr(inverted.get_ids(number), size) for number, size in sizes if size]
    return np.concatenate([np.empty(0, dtype=np.int64), *ids])


def _codes_in(inverted: Any, number: int) -> NDArray[np.uint8]:
    """A view of the codes of a list that is not empty: blocks of 32 rows, the last one padded."""
    n_blocks = -(-inverted.list_size(number) // inverted.n_per_block)
    return faiss.rev_swig_ptr(inverted.get_codes(number), n_blocks * inverted.block_size)  # type: ignore[no-any-return]


# --- search


def selector(allowed: NDArray[np.bool_]) -> tuple[Any, Any]:
    """FAISS's selector of these rows, and what must live as long as it is used."""
    bits = np.packbits(allowed, bitorder="little")
    return _bitmap(bits), bits


def search_rows(index: Any, queries: Vectors, k: int, allowed: Mask) -> Found:
    """Compare each query with all rows allowed.

    Args:
        index: a flat index with inner product.
        queries: (n, width), rotated.
        k: how many rows each.
        allowed: (rows,), False = never found; None = all rows.

    Returns:
        (n, k) each, best first; row -1 where there are fewer than k.
    """
    if not isinstance(index, faiss.IndexPQ):
        chosen = None if allowed is None else selector(allowed)
        params = None if chosen is None else _search_parameters(sel=chosen[0])
        with each_on_its_own():
            return _none_below(*index.search(queries, k, params=params))
    ids = np.arange(index.ntotal) if allowed is None else np.flatnonzero(allowed)  # it takes no selector
    found = []
    with each_on_its_own():
        for start in range(0, len(ids), BLOCK):
            block = ids[start : start + BLOCK]
            decoded, n = index.reconstruct_batch(block), min(k, len(block))
            scores, rows = faiss.knn(queries, decoded, n, metric=faiss.METRIC_INNER_PRODUCT)
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


@contextmanager
def each_on_its_own() -> Iterator[None]:
    """Temporarily let FAISS compare each query on its own, so that its scores do not depend on the number of queries
    and threads, as those of matrix products do."""
    before = faiss.cvar.distance_compute_blas_threshold
    faiss.cvar.distance_compute_blas_threshold = _NEVER
    try:
        yield
    finally:
        faiss.cvar.distance_compute_blas_threshold = before
