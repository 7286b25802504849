"""Nearest entities of many mentions, with the entities coming in chunks: they need not fit in memory."""

from typing import Any, Dict, Literal, Optional, Protocol, Tuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...types import Rows, Scores, Vectors

IndexKind = Literal["flat", "ivf"]
INDEX_KINDS: Tuple[IndexKind, ...] = ("flat", "ivf")
_QUERIES = 4096  # compared at a time on a GPU: 16,384 entities x 4,096 scores = 270 MB
_PROBES = 32  # lists that an IVF index looks at
_PER_LIST = 39  # vectors that FAISS wants to learn a list from


class NearestSearch(Protocol):
    """Takes entities chunk by chunk, gives the k largest inner products of each query."""

    def add(self, rows: Rows, vectors: Vectors) -> None: ...

    def result(self) -> Tuple[Scores, Rows]: ...  # (n, k) each, best first; row -1 = there are no more


def make_search(
    kind: IndexKind, queries: Vectors, k: int, n_entities: int, device: Optional[Any] = None
) -> NearestSearch:
    """Choose how to search.

    kind (IndexKind): "flat" compares everything with everything: FAISS, or on a GPU plain matrix
        products. "ivf" compares with the entities of some lists, which pays from a million on.
    queries (Vectors): (n, width).
    k (int): how many entities each.
    n_entities (int): how many will come.
    device (Optional[torch.device]): where the encoder is; None = on the CPU.
    RAISES (PelError): if there is no such kind.
    """
    if kind not in INDEX_KINDS:
        raise PelError(Errors.E325.format(known=", ".join(INDEX_KINDS), value=kind))
    k = min(k, n_entities)
    if kind == "ivf":
        return IvfSearch(queries, k, n_entities)
    if device is not None and device.type != "cpu":
        return MatrixSearch(queries, k, device)
    return FlatSearch(queries, k)


class FlatSearch:
    """Exact, by FAISS."""

    def __init__(self, queries: Vectors, k: int):
        import faiss

        self.queries = np.ascontiguousarray(queries, dtype=np.float32)
        self.heap: Any = faiss.ResultHeap(len(queries), k, keep_max=True)
        self.k = k

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """rows (Rows): (m,). vectors (Vectors): (m, width)."""
        from ...index.faiss_flat import FaissFlat

        index = FaissFlat()
        index.train(vectors[:0])
        index.add(vectors)
        scores, found = index.search(self.queries, min(self.k, len(rows)))
        self.heap.add_result(np.ascontiguousarray(scores), rows[found])

    def result(self) -> Tuple[Scores, Rows]:
        """RETURNS (Tuple[Scores, Rows]): (n, k) each."""
        self.heap.finalize()
        return self.heap.D, self.heap.I


class MatrixSearch:
    """Exact, by matrix products of torch: what a GPU does best.

    device (torch.device): where they are computed.
    """

    def __init__(self, queries: Vectors, k: int, device: Any):
        import torch

        self.k = k
        self.queries = torch.from_numpy(np.ascontiguousarray(queries, dtype=np.float32)).to(device)
        self.scores = torch.zeros((len(queries), 0), device=device)
        self.rows = torch.zeros((len(queries), 0), dtype=torch.int64, device=device)

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """rows (Rows): (m,). vectors (Vectors): (m, width)."""
        import torch

        device = self.queries.device
        entities = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32)).to(device).T
        numbers = torch.from_numpy(rows).to(device)
        parts = []
        for start in range(0, len(self.queries), _QUERIES):
            piece = slice(start, start + _QUERIES)
            scores, found = (self.queries[piece] @ entities).topk(min(self.k, len(rows)), dim=1)
            scores = torch.cat([self.scores[piece], scores], dim=1)
            found = torch.cat([self.rows[piece], numbers[found]], dim=1)
            scores, order = scores.topk(min(self.k, scores.shape[1]), dim=1)
            parts.append((scores, found.gather(1, order)))
        if parts:
            self.scores, self.rows = (torch.cat(column) for column in zip(*parts, strict=True))

    def result(self) -> Tuple[Scores, Rows]:
        """RETURNS (Tuple[Scores, Rows]): (n, k) each."""
        return self.scores.cpu().numpy(), self.rows.cpu().numpy()


class IvfSearch:
    """Approximate: the lists are learnt from the first chunk, the codes have 16 bits."""

    def __init__(self, queries: Vectors, k: int, n_entities: int):
        self.queries = np.ascontiguousarray(queries, dtype=np.float32)
        self.k = k
        self.n_entities = n_entities
        self.index: Any = None

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """rows (Rows): (m,). vectors (Vectors): (m, width); the first ones must be a fair sample."""
        import faiss

        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if self.index is None:
            wanted = 4 * int(self.n_entities**0.5)
            lists = max(1, min(wanted, len(vectors) // _PER_LIST))
            metric = faiss.METRIC_INNER_PRODUCT
            self.index = faiss.index_factory(vectors.shape[1], f"IVF{lists},SQfp16", metric)
            self.index.train(vectors)
            self.index.nprobe = _PROBES
        self.index.add_with_ids(vectors, rows)

    def result(self) -> Tuple[Scores, Rows]:
        """RETURNS (Tuple[Scores, Rows]): (n, k) each."""
        return self.index.search(self.queries, self.k)  # type: ignore[no-any-return]


def drop_gold(
    scores: Scores, rows: Rows, gold: NDArray[np.int64], offsets: NDArray[np.int64], depth: int
) -> Dict[str, NDArray[Any]]:
    """Take the gold entities out of what was found.

    scores, rows (NDArray): (n, k), best first; row -1 = there are no more.
    gold, offsets (NDArray): gold entities of mention i are ``gold[offsets[i]:offsets[i + 1]]``.
    depth (int): how many negatives to keep.
    RETURNS (dict): "rows" (n, depth) int32 and "scores" (n, depth), filled with -1 and -inf; "ranks"
        (n,): of the best gold entity among all, from 1; 0 = not among the k.
    """
    n_entities = max(int(rows.max(initial=0)), int(gold.max(initial=0))) + 1
    owner = np.arange(len(rows), dtype=np.int64)
    keys = np.repeat(owner, np.diff(offsets)) * n_entities + gold
    is_gold = (rows >= 0) & np.isin(rows + owner[:, None] * n_entities, keys)
    ranks = np.where(is_gold.any(axis=1), is_gold.argmax(axis=1) + 1, 0)
    order = np.argsort(is_gold | (rows < 0), axis=1, kind="stable")[:, :depth]
    gone = np.take_along_axis(is_gold | (rows < 0), order, axis=1)
    kept_rows = np.full((len(rows), depth), -1, dtype=np.int32)
    kept_scores = np.full((len(rows), depth), -np.inf, dtype=np.float32)
    kept_rows[:, : order.shape[1]] = np.where(gone, -1, np.take_along_axis(rows, order, axis=1))
    kept_scores[:, : order.shape[1]] = np.where(gone, -np.inf, np.take_along_axis(scores, order, axis=1))
    return {"rows": kept_rows, "scores": kept_scores, "ranks": ranks}
