"""The nearest entities of many mentions. Entities arrive in chunks, so they need not fit in memory."""

from typing import Any, Literal, Protocol

import faiss
import numpy as np
import torch

from ...index.faiss_rows import few_large_products
from ...types import Rows, Scores, Vectors

IndexKind = Literal["flat", "ivf"]
INDEX_KINDS: tuple[IndexKind, ...] = ("flat", "ivf")
_QUERIES = 4096  # compared at a time on a GPU: 16,384 entities x 4,096 scores = 270 MB
_PROBES = 32  # lists that an IVF index searches
_PER_LIST = 39  # training vectors per list that FAISS asks for


class TopK(Protocol):
    """Collects entities chunk by chunk and returns the k largest inner products of each query."""

    def add(self, rows: Rows, vectors: Vectors) -> None: ...

    def result(self) -> tuple[Scores, Rows]: ...  # (n, k) each, best first; row -1 = no more entities


def make_top_k(kind: IndexKind, queries: Vectors, k: int, n_entities: int, device: Any | None = None) -> TopK:
    """Choose a search.

    Args:
        kind: "flat" compares all queries with all entities: FAISS, or on a GPU plain matrix
            products. "ivf" searches only the nearest lists, which pays off for a million entities or more.
        queries: (n, width).
        k: entities per query.
        n_entities: total number of entities.
        device: device of the encoder; None = CPU.
    """
    k = min(k, n_entities)
    if kind == "ivf":
        return IvfTopK(queries, k, n_entities)
    if device is not None and device.type != "cpu":
        return MatrixTopK(queries, k, device)
    return FlatTopK(queries, k)


class FlatTopK:
    """Exact, by FAISS."""

    def __init__(self, queries: Vectors, k: int):
        self.queries, self.k = np.ascontiguousarray(queries, dtype=np.float32), k
        self.heap: Any = faiss.ResultHeap(len(queries), k, keep_max=True)

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """Args:
        rows: (m,). vectors (Vectors): (m, width).
        """
        with few_large_products(len(self.queries)):
            k, metric = min(self.k, len(rows)), faiss.METRIC_INNER_PRODUCT
            scores, nearest = faiss.knn(self.queries, np.ascontiguousarray(vectors), k, metric=metric)
        self.heap.add_result(scores, rows[nearest])

    def result(self) -> tuple[Scores, Rows]:
        """(n, k) each."""
        self.heap.finalize()
        return self.heap.D, self.heap.I


class MatrixTopK:
    """Exact, by torch matrix products, for GPUs.

    Args:
        device: of the products.
    """

    def __init__(self, queries: Vectors, k: int, device: Any):
        self.k = k
        self.queries = torch.from_numpy(np.ascontiguousarray(queries, dtype=np.float32)).to(device)
        self.scores = torch.zeros((len(queries), 0), device=device)
        self.rows = torch.zeros((len(queries), 0), dtype=torch.int64, device=device)

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """Args:
        rows: (m,). vectors (Vectors): (m, width).
        """
        device = self.queries.device
        entities = torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32)).to(device).T
        numbers = torch.from_numpy(rows).to(device)
        parts = []
        for start in range(0, len(self.queries), _QUERIES):
            piece = slice(start, start + _QUERIES)
            scores, nearest = (self.queries[piece] @ entities).topk(min(self.k, len(rows)), dim=1)
            scores = torch.cat([self.scores[piece], scores], dim=1)
            nearest = torch.cat([self.rows[piece], numbers[nearest]], dim=1)
            scores, order = scores.topk(min(self.k, scores.shape[1]), dim=1)
            parts.append((scores, nearest.gather(1, order)))
        if parts:
            self.scores, self.rows = (torch.cat(column) for column in zip(*parts, strict=True))

    def result(self) -> tuple[Scores, Rows]:
        """(n, k) each."""
        return self.scores.cpu().numpy(), self.rows.cpu().numpy()


class IvfTopK:
    """Approximate: lists are trained on the first chunk, vectors are stored in float16."""

    def __init__(self, queries: Vectors, k: int, n_entities: int):
        self.queries, self.k = np.ascontiguousarray(queries, dtype=np.float32), k
        self.n_entities = n_entities
        self.index: Any = None

    def add(self, rows: Rows, vectors: Vectors) -> None:
        """Args:
        rows: (m,). vectors (Vectors): (m, width); the first chunk must be representative.
        """
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if self.index is None:
            lists = max(1, min(4 * int(self.n_entities**0.5), len(vectors) // _PER_LIST))
            self.index = faiss.index_factory(vectors.shape[1], f"IVF{lists},SQfp16", faiss.METRIC_INNER_PRODUCT)
            self.index.train(vectors)
            self.index.nprobe = _PROBES
        self.index.add_with_ids(vectors, rows)

    def result(self) -> tuple[Scores, Rows]:
        """(n, k) each."""
        return self.index.search(self.queries, self.k)  # type: ignore[no-any-return]
