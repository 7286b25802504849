"""Search that chooses by size: exact for small knowledge bases, filtered and rescored for large ones."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple

import faiss
import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Rows, Vectors
from .faiss_flat import FaissFlat
from .faiss_pq import FaissPQ
from .faiss_rows import (
    BLOCK,
    FaissRows,
    Found,
    Mask,
    copy_in_memory,
    few_large_products,
    finished,
    selector,
    unreadable,
)
from .mapped_lists import read_lists, write_lists

Codes = Literal["fp32", "fp16", "int8", "pq"]
_FILE = "lists-{}.faiss"
_SEED = 0
_SAMPLE = 65_536  # rows that codes are learned from
_PER_LIST = 48  # rows per list that lists are learned from
_ONE_LIST = 65_536  # rows up to which all short codes are compared with a query
_LIST = 128  # rows of a list, at least: FAISS compares 32 at a time
_LISTS = 8  # of more rows: lists per square root of their number, at most
_SCANNED = (65_536, 128)  # rows to read, at least, and per square root of their number
_TWO_LEVELS = 256  # lists from which they are learned in two steps
_LEAST = 16  # rows that codes of 4 bits can be learned from
_RESCORED = 4  # rows compared exactly per row wanted
_RESCORED_LEAST = 1024  # of them, at least
_NARROW = 4096  # rows under a mask that are better compared one by one
_MANY = 20  # queries from which FAISS's matrix products are faster than its loops
_FAST = (1, 2, 4, 8, 12)  # numbers of a piece of a vector that FAISS multiplies with vector instructions
_refine_parameters: Any = faiss.IndexRefineSearchParameters  # its type stubs lack keywords
_ivf_parameters: Any = faiss.SearchParametersIVF
_transform_parameters: Any = faiss.SearchParametersPreTransform
_remap: Any = faiss.RemapDimensionsTransform


@registry.pel_indexes("spacy-pel.FaissIVF.v1")
class FaissIVF(FaissRows):
    """Rows as in FaissFlat or FaissPQ, and from ``flat_below`` rows on a filter in front of them: each row
    also has a short code of 4 bits for four numbers (product quantisation), kept in inverted lists
    and compared in CPU registers (FastScan, André et al. 2017). The best 1,024, or more, are compared again
    with the rows themselves, so scores are exact. Above 65,536 rows only the lists nearest to
    a query are read (IVF, Jégou et al. 2011).

    Rows of names and of mentions have lists of their own, as they are searched apart. Searches
    under masks that leave few rows are exact, and rows added to a saved index are compared exactly.

    Args:
        codes: how a row is stored; None = "fp32" below
            ``flat_below`` rows, else "int8".
        pca: see FaissFlat.
        row_bytes: see FaissPQ; the codes are "pq" then.
        flat_below: number of rows of a group below which every row is compared.
        lists: inverted lists of a group; None = 1 up to 65,536 rows, then eight times the square
            root of their number, or one per 128 rows if that is less.
        probes: lists to read; None = as many as have 65,536 rows, or 128 times the square root
            of their number if that is more.

    Raises:
        PelError: if the codes are unknown or have no such setting, or a number is too small.
    """

    name = "spacy-pel.FaissIVF.v1"

    def __init__(
        self,
        *,
        codes: Codes | None = None,
        pca: int | None = None,
        row_bytes: int | None = None,
        flat_below: int = 20_000,
        lists: int | None = None,
        probes: int | None = None,
    ):
        super().__init__()
        if codes is None and row_bytes is not None:
            codes = "pq"
        if codes != "pq":
            FaissFlat(codes=codes or "fp32")  # checks the codes
        if codes == "pq" and pca is not None:
            raise PelError(Errors.E414.format(setting="pca", value=pca, codes="pq"))
        if codes != "pq" and row_bytes is not None:
            raise PelError(Errors.E414.format(setting="row_bytes", value=row_bytes, codes=codes))
        for setting, value, least in (("flat_below", flat_below, 0), ("lists", lists, 1), ("probes", probes, 1)):
            if value is not None and value < least:
                raise PelError(Errors.E301.format(name=setting, least=least, value=value))
        self.codes: Codes | None = codes
        self.pca = pca
        self.row_bytes = row_bytes
        self.flat_below = flat_below
        self.lists = lists
        self.probes = probes
        self._chooses_codes = codes is None
        self._filters: list[_Filter] = []

    @property
    def needs_training(self) -> bool:
        """Do the codes depend on a sample of the vectors?"""
        return self._flat().needs_training

    @property
    def takes_selector(self) -> bool:  # type: ignore[override]
        """Can FAISS's own search leave rows out?"""
        return self.codes != "pq"

    def _flat(self) -> FaissFlat | FaissPQ:
        if self.codes == "pq":
            return FaissPQ(row_bytes=self.row_bytes)
        return FaissFlat(codes=self.codes or "fp32", pca=self.pca)

    def train(self, vectors: Vectors) -> None:
        """Fix the width, learn rotation and codes, drop all rows.

        Args:
            vectors: a sample; may be empty unless ``needs_training``.

        Raises:
            PelError: if the sample is too small for that.
        """
        super().train(vectors)
        self._filters = []

    def finish(self, groups: NDArray[np.uint8] | None = None) -> None:
        """Put the filter in front of the rows, if they are many. Rows that are added later are compared exactly.

        Args:
            groups: (rows,), rows with different numbers are searched apart.
        """
        groups = np.zeros(len(self), dtype=np.uint8) if groups is None else groups
        members = [np.flatnonzero(groups == number) for number in np.unique(groups)]
        large = [ids for ids in members if len(ids) >= max(self.flat_below, _LEAST)]
        if large and self._chooses_codes:
            self._shorten()
        self._filters = [_Filter.learn(self._rows, ids, self.lists, self.probes) for ids in large]

    def take_rows(self, source: FaissRows, rows: Rows) -> bool:
        """Take over the codes of another index as they are: nothing is quantised twice.

        Args:
            source: the index; it stays as it is.
            rows: its rows to take over.

        Returns:
            Whether the settings leave the choice of the codes to it; nothing is done otherwise.
        """
        if self.codes is not None or self.pca is not None:
            return False
        taken = copy_in_memory(source._rows)
        codes = faiss.rev_swig_ptr(taken.codes.data(), taken.ntotal * taken.code_size).reshape(taken.ntotal, -1)[rows]
        taken.reset()
        taken.add_sa_codes(codes)
        self.width, self._mapped, self._chooses_codes = source.width, False, False
        self._rotation, self._rows = source._rotation, taken
        self._owner = source._owner  # of the rotation
        self._filters = []
        self._read()
        return True

    def _shorten(self) -> None:
        """Store the rows as 8-bit codes."""
        sample = _sample(np.arange(self._rows.ntotal), _SAMPLE)
        rows: Any = faiss.index_factory(self._rows.d, "SQ8", faiss.METRIC_INNER_PRODUCT)
        rows.train(self._rows.reconstruct_batch(sample))
        for start in range(0, self._rows.ntotal, BLOCK):
            rows.add(self._rows.reconstruct_n(start, min(BLOCK, self._rows.ntotal - start)))
        self._rows, self.codes = rows, "int8"

    def _learn(self, vectors: Vectors) -> tuple[Any, Any]:
        if self._chooses_codes:
            self.codes = None
        flat = self._flat()
        rotation, rows = flat._learn(vectors)
        self.codes = self.codes or "fp32"
        self.row_bytes = flat.settings.get("row_bytes")
        return rotation, rows

    def _read(self) -> None:
        flat: FaissFlat | FaissPQ = FaissPQ() if isinstance(self._rows, faiss.IndexPQ) else FaissFlat()
        flat._rows, flat._rotation = self._rows, self._rotation
        flat._read()
        self.codes = flat.settings.get("codes", "pq")
        self.pca, self.row_bytes = flat.settings.get("pca"), flat.settings.get("row_bytes")

    def search_groups(self, vectors: Vectors, k: int, groups: Sequence[Mask]) -> list[Found]:
        """Find the nearest rows of each group of rows.

        Args:
            vectors: (n, width) queries.
            k: how many rows each, of each group.
            groups: masks over the rows; None = all rows.

        Returns:
            (n, k) each, best first; row -1 where there are fewer than k.

        Raises:
            PelError: if the width differs.
        """
        self._check(vectors)
        queries = self._rotate(vectors)
        if not self._filters or not len(queries):
            return self._compare_all(queries, k, groups)
        return [self._search_group(queries, k, allowed) for allowed in groups]

    def _search_group(self, queries: Vectors, k: int, allowed: Mask) -> Found:
        rest = np.ones(len(self), dtype=np.bool_) if allowed is None else allowed.copy()
        results = []
        for part in self._filters:
            mine = part.covers & rest[: len(part.covers)]
            n_rows = int(np.count_nonzero(mine))
            if n_rows > _NARROW or (n_rows and n_rows == part.n_rows):
                results.append(part.search(queries, k, mine, n_rows))
                rest[: len(mine)] &= ~mine
        if not results or rest.any():
            results += self._compare_all(queries, k, [rest])
        if len(results) == 1:
            return results[0]
        heap = faiss.ResultHeap(len(queries), k, keep_max=True)
        for scores, rows in results:
            heap.add_result(scores, rows)
        return finished(heap)

    def to_disk(self, path: Path) -> None:
        """Write the FAISS files to a folder; FAISS alone can read and search them.

        Raises:
            PelError: if the disk is full.
        """
        super().to_disk(path)
        for old in Path(path).glob("lists-*"):
            old.unlink()
        for number, part in enumerate(self._filters):
            write_lists(part.lists, Path(path) / _FILE.format(number))

    def from_disk(self, path: Path) -> Self:
        """Map rows and lists of a folder into memory; the codes become those of the files.

        Raises:
            PelError: if a file is missing or damaged.
        """
        super().from_disk(path)
        self._chooses_codes = False
        self._filters = []
        for file in sorted(Path(path).glob(_FILE.format("*"))):
            lists, ids = read_lists(file)
            if len(ids) and not 0 <= ids.min() <= ids.max() < self._rows.ntotal:
                raise unreadable(Path(path), ValueError("other rows"), f"a complete {file.name}")
            self._filters.append(_Filter(lists, self._rows, ids))
        return self


class _Filter:
    """Short codes of some rows of an index in inverted lists, in front of these rows.

    Args:
        lists: numbered like the rows.
        rows: the index.
        ids: which of its rows are in the lists.
    """

    def __init__(self, lists: Any, rows: Any, ids: Rows):
        self.lists = lists
        self.n_rows = lists.ntotal
        self.covers = np.zeros(rows.ntotal, dtype=np.bool_)
        self.covers[ids] = True
        lists.ntotal = rows.ntotal  # FAISS checks that they are equal; it searches what is in the lists
        self.padded = _PaddedCodes.of(lists, rows)
        self._refined = faiss.IndexRefine(*((lists, rows) if self.padded is None else self.padded[:2]))
        lists.ntotal = self.n_rows

    @classmethod
    def learn(cls, rows: Any, ids: Rows, nlist: int | None, nprobe: int | None) -> "_Filter":
        """Cluster some rows of an index, and give them codes."""
        root = len(ids) ** 0.5
        if nlist is None:
            nlist = 1 if len(ids) <= _ONE_LIST else min(int(_LISTS * root), len(ids) // _LIST)
        nlist = min(nlist, len(ids))
        n_slices = next(n for n in range(max(rows.d // 4, 1), rows.d + 1) if rows.d % n == 0)
        sample = rows.reconstruct_batch(_sample(ids, max(_SAMPLE, _PER_LIST * nlist)))
        quantizer = faiss.IndexFlatIP(rows.d)
        quantizer.add(_centroids(sample, nlist))
        lists: Any = faiss.IndexIVFPQFastScan(quantizer, rows.d, nlist, n_slices, 4, faiss.METRIC_INNER_PRODUCT)
        _set_up(lists.pq.cp)
        lists.train(sample[_sample(np.arange(len(sample)), _SAMPLE)])
        for start in range(0, len(ids), BLOCK):
            block = ids[start : start + BLOCK]
            lists.add_with_ids(rows.reconstruct_batch(block), block)
        scanned = max(_SCANNED[0], int(_SCANNED[1] * root))
        lists.nprobe = min(nlist, -(-nlist * scanned // len(ids)) if nprobe is None else nprobe)
        return cls(lists, rows, ids)

    def search(self, queries: Vectors, k: int, mine: NDArray[np.bool_], n_rows: int) -> Found:
        """Find rows, scored with the rows themselves.

        Args:
            queries: (n, width).
            k: how many rows each.
            mine: mask over the rows of the index, none outside of ``covers``.
            n_rows: how many rows it allows.

        Returns:
            (n, k) each, best first.
        """
        chosen = None if n_rows == self.n_rows else selector(mine)
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
        if self.padded is not None:
            queries, base = self.padded.pad(queries), _transform_parameters(index_params=base)
        params = _refine_parameters(k_factor=max(_RESCORED, _RESCORED_LEAST / k), base_index_params=base)
        # the centroids of the lists are multiplied with many queries at once
        with few_large_products(len(queries)) if len(queries) >= _MANY else nullcontext():
            scores, rows = self._refined.search(queries, k, params=params)
        return scores, rows


class _PaddedCodes(NamedTuple):
    """PQ codes whose centroids are padded with zeros; the codes themselves are shared, and scores stay the
    same.

    A query is first multiplied with all centroids. FAISS does so one by one where a centroid has, say, 6
    numbers (width 384, 64 bytes a row), and this takes as long as comparing 1,024 rows; with 8 numbers it
    uses vector instructions.

    Attributes:
        lists: leaves out the padding of a query and searches the lists.
        rows: with padded centroids.
        transform: that of the lists; FAISS only points to it.
        piece: numbers of a centroid, without padding.
    """

    lists: Any
    rows: Any
    transform: Any
    piece: int

    @classmethod
    def of(cls, lists: Any, rows: Any) -> "_PaddedCodes | None":
        """None where there is nothing to gain, or the codes would be copied."""
        codes: Any = rows.codes if isinstance(rows, faiss.IndexPQ) else None
        if codes is None or codes.is_owned:
            return None
        pq: Any = rows.pq
        width = next((width for width in _FAST if width >= pq.dsub), pq.dsub)
        if width == pq.dsub:
            return None
        centroids = np.zeros((pq.M, pq.ksub, width), dtype=np.float32)
        centroids[:, :, : pq.dsub] = faiss.vector_to_array(pq.centroids).reshape(pq.M, pq.ksub, pq.dsub)
        padded: Any = faiss.IndexPQ(pq.M * width, pq.M, pq.nbits, rows.metric_type)
        faiss.copy_array_to_vector(centroids.ravel(), padded.pq.centroids)
        padded.codes, padded.ntotal, padded.is_trained = codes, rows.ntotal, True
        used = np.arange(padded.d, dtype=np.int32).reshape(pq.M, width)[:, : pq.dsub]
        transform = _remap(padded.d, rows.d, False)
        faiss.copy_array_to_vector(used.ravel(), transform.map)
        return cls(faiss.IndexPreTransform(transform, lists), padded, transform, pq.dsub)

    def pad(self, queries: Vectors) -> Vectors:
        """(n, padded width)."""
        pieces = queries.reshape(len(queries), -1, self.piece)
        width = self.rows.d // pieces.shape[1]
        return np.pad(pieces, ((0, 0), (0, 0), (0, width - self.piece))).reshape(len(queries), -1)


def _sample(ids: Rows, most: int) -> Rows:
    if len(ids) <= most:
        return ids
    return np.sort(np.random.default_rng(_SEED).choice(ids, size=most, replace=False))


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
    clustering: Any = faiss.Clustering(vectors.shape[1], n)
    _set_up(clustering)
    clustering.spherical = True
    clustering.train(vectors, faiss.IndexFlatIP(vectors.shape[1]))
    return faiss.vector_to_array(clustering.centroids).reshape(n, -1)


def _set_up(clustering: Any) -> None:
    clustering.seed, clustering.niter = _SEED, 10
    clustering.min_points_per_centroid = 1  # no warnings on the console
