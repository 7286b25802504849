"""The vector index: exact for small knowledge bases, filtered and rescored for large ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ..errors import Errors, PelError, quoted
from ..registry import registry
from ..types import Mask, Rows, Vectors
from ..util.arrays import in_range, row_products
from ..util.config import PartSettings, check_range
from ..util.saved_folder import damaged
from . import faiss_rows
from .faiss_rows import BLOCK, Codes, Found
from .row_table import SEED, sample_rows

_ROWS, _LISTS = "vectors.faiss", "lists-{}"
_SAMPLE = 65_536  # rows that codes are learned from
_SLICES = (6, 4)  # numbers of a vector that a short code of 4 bits stands for: of one list, of several
_PER_LIST = 48  # rows per list that lists are learned from
_ONE_LIST = 400_000  # rows up to which all short codes are compared with a query, in about a millisecond
_LIST = 128  # rows of a list, at least
_MOST_LISTS = 8  # of more rows: lists per square root of their number, at most
_SCANNED = 128  # rows to read per square root of their number
_TWO_LEVELS = 256  # lists from which they are learned in two steps
_CLUSTERING = {"seed": SEED, "niter": 10, "min_points_per_centroid": 1}  # the last: no warnings on the console
_LEAST = 16  # rows that codes of 4 bits can be learned from
_RESCORED = 4  # rows compared exactly per row wanted
_RESCORED_LEAST = 1024  # of them, at least
_NARROW = 4096  # rows under a mask that are better compared one by one
# its type stubs lack keywords
_refine_parameters: Any = faiss.IndexRefineSearchParameters
_ivf_parameters: Any = faiss.SearchParametersIVF


@registry.pel_indexes("spacy-pel.FaissIVF.v1")
@dataclass(kw_only=True, eq=False)
class FaissIVF(PartSettings):
    """Compares a query with rows of codes, by inner product. From ``flat_below`` rows on there is a filter in front of
    them: each row also has short codes of 4 bits, one for six numbers (four in lists), compared in CPU registers
    (product quantisation, FastScan, André et al. 2017). The best 1,024, or more, are compared again exactly, so
    scores are exact. Above 400,000 rows the short codes are in inverted lists, and only the lists nearest to
    a query are read (IVF, Jégou et al. 2011).

    Rows of names and of mentions have filters of their own, as they are searched apart. Searches
    under masks that leave few rows are exact, and rows added after ``finish`` are compared exactly.

    A loaded index is memory-mapped: it opens at once and processes share its pages. It is copied into memory
    before rows are added to it.

    Args:
        codes: how a row is stored: numbers of 4, 2 or 1 bytes, or "pq", bytes that stand for the nearest of 256
            centroids of a slice of the rotated vector (Jégou et al. 2011); None = "fp32" below ``flat_below`` rows,
            else "int8". At the same size "pq" keeps the ranking best; queries are not quantised.
        row_bytes: of codes "pq", must divide the width; None = a quarter of it. The codes are "pq" if it is given.
        flat_below: number of rows of a group below which every row is compared; None = always.
        lists: inverted lists of a group; None = 1 up to 400,000 rows, then eight times the square
            root of their number, or one per 128 rows if that is less.
        probes: lists to read; None = as many as have 128 times the square root of the number of rows.

    Raises:
        PelError: if the codes are unknown or have no such setting, or a number is too small.
    """

    name = "spacy-pel.FaissIVF.v1"

    codes: Codes | None = None
    row_bytes: int | None = None
    flat_below: int | None = 20_000
    lists: int | None = None
    probes: int | None = None

    def __post_init__(self) -> None:
        if self.codes is None and self.row_bytes is not None:
            self.codes = "pq"
        if self.codes not in (None, *faiss_rows.CODES):
            known = ", ".join(faiss_rows.CODES)
            raise PelError(Errors.E016.format(what="codes", known=known, got=quoted(self.codes), setting="codes"))
        if self.codes != "pq" and self.row_bytes is not None:
            raise PelError(Errors.E414.format(setting="row_bytes", value=self.row_bytes, codes=self.codes))
        for setting, least in {"flat_below": 0, "lists": 1, "probes": 1}.items():
            check_range(setting, getattr(self, setting), least=least)
        self.width = 0
        self._chooses_codes = self.codes is None
        self._filters: list[_Filter] = []
        self._rotation: Any = None  # a faiss.OPQMatrix
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
        return self.codes in ("int8", "pq")

    @property
    def precision(self) -> str | None:
        """ "fp32" or "fp16" if ``vectors`` returns what was added, rounded to that; None = the codes lose more."""
        return self.codes if self.codes in ("fp32", "fp16") else None

    # --- rows

    def train(self, vectors: Vectors) -> None:
        """Fix the width, learn codes, drop all rows.

        Args:
            vectors: a sample; may be empty unless ``needs_training``.

        Raises:
            PelError: if the sample is too small for that.
        """
        codes = "fp32" if self._chooses_codes or self.codes is None else self.codes
        self._rotation, self._rows = faiss_rows.empty_rows(vectors, codes, self.row_bytes)
        self.width, self._mapped, self._filters = vectors.shape[1], False, []
        self._read_settings()

    def _read_settings(self) -> None:
        """Set the settings to those of the rows."""
        self.codes = faiss_rows.codes_of(self._rows)
        self.row_bytes = self._rows.pq.M if self.codes == "pq" else None

    def add(self, vectors: Vectors) -> None:
        """Append vectors; their rows follow the existing ones.

        Raises:
            PelError: if the width differs.
        """
        vectors = self._checked(vectors)
        if self._mapped:  # FAISS ends the process when a mapped index is to grow
            self._rows, self._mapped = faiss_rows.copy_in_memory(self._rows), False
        self._rows.add(vectors if self._rotation is None else self._rotation.apply(vectors))

    def finish(self, groups: NDArray[np.uint8] | None = None) -> None:
        """Put the filter in front of the rows, if they are many.

        Args:
            groups: (rows,), rows with different numbers are searched apart.
        """
        if self.flat_below is None:
            return
        groups = np.zeros(len(self), dtype=np.uint8) if groups is None else groups
        members = [np.flatnonzero(groups == number) for number in np.unique(groups)]
        large = [ids for ids in members if len(ids) >= max(self.flat_below, _LEAST)]
        if large and self._chooses_codes:
            self._shorten()
        self._filters = [
            _Filter(_learn_lists(self._rows, ids, self.lists, self.probes), ids, self._rows) for ids in large
        ]

    def _shorten(self) -> None:
        """Store the rows as 8-bit codes."""
        sample = sample_rows(np.arange(self._rows.ntotal), _SAMPLE)
        _, rows = faiss_rows.empty_rows(self._rows.reconstruct_batch(sample), "int8")
        for start in range(0, self._rows.ntotal, BLOCK):
            rows.add(self._rows.reconstruct_n(start, min(BLOCK, self._rows.ntotal - start)))
        self._rows, self.codes = rows, "int8"

    def vectors(self, start: int, stop: int) -> Vectors:
        """(stop - start, width), what the codes keep of these rows."""
        codes = self._rows.reconstruct_n(start, stop - start)
        return codes if self._rotation is None else self._rotation.reverse_transform(codes)

    def _checked(self, vectors: Vectors) -> Vectors:
        if not self.width:
            raise PelError(Errors.E403)
        if vectors.ndim != 2 or vectors.shape[1] != self.width:
            raise PelError(Errors.E402.format(expected=self.width, got=vectors.shape))
        return np.ascontiguousarray(vectors, dtype=np.float32)

    # --- search

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
        queries = self._checked(vectors)
        if self._rotation is not None:
            matrix = faiss.vector_to_array(self._rotation.A).reshape(self._rotation.d_out, -1)
            queries = row_products(queries, matrix).astype(np.float32, copy=False)
        return [self._search(queries, k, allowed) for allowed in groups]

    def _search(self, queries: Vectors, k: int, allowed: Mask) -> Found:
        if not self._filters or not len(queries):
            return faiss_rows.search_rows(self._rows, queries, k, allowed)
        rest = np.ones(len(self), dtype=np.bool_) if allowed is None else allowed.copy()
        found = []
        for part in self._filters:
            wanted = part.covers & rest[: len(part.covers)]
            n_rows = int(np.count_nonzero(wanted))
            if n_rows > _NARROW or (n_rows and n_rows == part.n_rows):
                found.append(part.search(queries, k, wanted, n_rows))
                rest[: len(wanted)] &= ~wanted
        if not found or rest.any():
            found.append(faiss_rows.search_rows(self._rows, queries, k, rest))
        return found[0] if len(found) == 1 else faiss_rows.best_of(found, len(queries), k)

    # --- disk

    def to_disk(self, path: Path) -> None:
        """Write the files to a folder; FAISS alone can read and search ``vectors.faiss``.

        Raises:
            PelError: if the disk is full.
        """
        whole = self._rows if self._rotation is None else faiss.IndexPreTransform(self._rotation, self._rows)
        faiss_rows.write_faiss(whole, Path(path) / _ROWS)
        for old in Path(path).glob(_LISTS.format("*")):
            old.unlink()
        for number, part in enumerate(self._filters):
            faiss_rows.write_lists(part.lists, Path(path) / _LISTS.format(number))

    def from_disk(self, path: Path) -> Self:
        """Map rows of a folder into memory and read their short codes; the codes become those of the files.

        Raises:
            PelError: if a file is missing or damaged.
        """
        whole = faiss_rows.read_faiss(Path(path) / _ROWS, flags=faiss.IO_FLAG_MMAP_IFC)
        self._owner, self._mapped = whole, True
        self._rotation, self._rows = None, whole
        if isinstance(whole, faiss.IndexPreTransform):
            chain: Any = whole.chain
            self._rotation = faiss.downcast_VectorTransform(chain.at(0))
            self._rows = faiss.downcast_index(whole.index)
        self.width = whole.d
        self._read_settings()
        self._chooses_codes = False
        self._filters = []
        for file in sorted(Path(path).glob(_LISTS.format("*.faiss"))):
            lists, ids = faiss_rows.read_lists(file)
            if lists.d != self._rows.d or not in_range(ids, self._rows.ntotal):
                raise damaged(file.parent, faiss_rows.KIND, f"a complete {file.name}", "other rows")
            self._filters.append(_Filter(lists, ids, self._rows))
        return self


class _Filter:
    """Short codes of some rows of an index in inverted lists, in front of these rows.

    Args:
        lists: of short codes.
        ids: the rows in them.
        rows: the index.
    """

    def __init__(self, lists: Any, ids: Rows, rows: Any):
        self.lists = lists
        self.n_rows = len(ids)
        self.covers = np.zeros(rows.ntotal, dtype=np.bool_)
        self.covers[ids] = True
        # FAISS makes this of two indexes with as many rows; searching it takes lists of some of the rows
        self._refined: Any = faiss.IndexRefine(lists, lists)
        self._refined.refine_index, self._refined.ntotal, self._rows = rows, rows.ntotal, rows

    def search(self, queries: Vectors, k: int, wanted: NDArray[np.bool_], n_rows: int) -> Found:
        """Find rows, scored with the rows themselves.

        Args:
            queries: (n, width).
            k: how many rows each.
            wanted: mask over the rows of the index, none outside of ``covers``.
            n_rows: how many rows it allows.

        Returns:
            (n, k) each, best first.
        """
        chosen = None if n_rows == self.n_rows else faiss_rows.selector(wanted)
        nlist = self.lists.nlist
        # the fewer rows may be found, the more lists are read
        nprobe = min(nlist, -(-self.lists.nprobe * self.n_rows // n_rows))
        scores, rows = self._search(queries, k, nprobe, chosen)
        short = np.flatnonzero((rows >= 0).sum(axis=1) < min(k, n_rows))
        if len(short) and nprobe < nlist:
            scores[short], rows[short] = self._search(queries[short], k, nlist, chosen)
        return np.where(rows < 0, np.float32(-np.inf), scores), rows

    def _search(self, queries: Vectors, k: int, nprobe: int, chosen: tuple[Any, Any] | None) -> Found:
        base = _ivf_parameters(nprobe=nprobe, **({} if chosen is None else {"sel": chosen[0]}))
        params = _refine_parameters(k_factor=max(_RESCORED, _RESCORED_LEAST / k), base_index_params=base)
        with faiss_rows.each_on_its_own():
            return self._refined.search(queries, k, params=params)  # type: ignore[no-any-return]


def _learn_lists(rows: Any, ids: Rows, nlist: int | None, nprobe: int | None) -> Any:
    """Cluster some rows of an index, and give them short codes."""
    if nlist is None:
        nlist = 1 if len(ids) <= _ONE_LIST else min(int(_MOST_LISTS * len(ids) ** 0.5), len(ids) // _LIST)
    nlist = min(nlist, len(ids))
    n_slices = next(n for n in range(max(rows.d // _SLICES[nlist > 1], 1), rows.d + 1) if rows.d % n == 0)
    sample = rows.reconstruct_batch(sample_rows(ids, max(_SAMPLE, _PER_LIST * nlist)))
    quantizer = faiss.IndexFlatIP(rows.d)
    quantizer.add(_centroids(sample, nlist))
    lists: Any = faiss.IndexIVFPQFastScan(quantizer, rows.d, nlist, n_slices, 4, faiss.METRIC_INNER_PRODUCT)
    for setting, value in _CLUSTERING.items():
        setattr(lists.pq.cp, setting, value)
    lists.train(sample[sample_rows(np.arange(len(sample)), _SAMPLE)])
    for start in range(0, len(ids), BLOCK):
        block = ids[start : start + BLOCK]
        lists.add_with_ids(rows.reconstruct_batch(block), block)
    scanned = int(_SCANNED * len(ids) ** 0.5)
    lists.nprobe = min(nlist, -(-nlist * scanned // len(ids)) if nprobe is None else nprobe)
    return lists


def _centroids(vectors: Vectors, n: int) -> Vectors:
    """Cluster vectors by their cosines. Many clusters are learned in two steps, in a fraction of the time:
    a few large ones first, then each is split by itself.

    Returns:
        (n, width), of length 1.
    """
    if n < _TWO_LEVELS or len(vectors) < 4 * n:
        return _k_means(vectors, n)
    large = faiss.IndexFlatIP(vectors.shape[1])
    large.add(_k_means(vectors, int(n**0.5)))
    nearest = large.assign(vectors, 1)[:, 0]
    ends = np.cumsum(np.bincount(nearest, minlength=large.ntotal))
    shares = np.diff(np.round(ends * n / len(vectors)).astype(np.int64), prepend=0)
    parts = np.split(vectors[np.argsort(nearest, kind="stable")], ends[:-1])
    split = [_k_means(part, share) for part, share in zip(parts, shares.tolist(), strict=True) if share]
    return np.concatenate(split)


def _k_means(vectors: Vectors, n: int) -> Vectors:
    kmeans: Any = faiss.Kmeans(vectors.shape[1], n, spherical=True, **_CLUSTERING)
    kmeans.train(vectors)
    return kmeans.centroids  # type: ignore[no-any-return]
