"""Mining: the nearest wrong entities of each mention, over the whole knowledge base. Entities arrive in chunks, so
they need not fit in memory."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..types import Numbers, Rows, Scores, Vectors
from ..util.arrays import Ragged, offsets_of, owners
from ..util.console import progress_bar

_QUERIES = 4096  # compared at a time: 16,384 entities x 4,096 scores = 270 MB


class TopK:
    """Collects entities chunk by chunk; the k largest inner products of each query, by torch.

    Args:
        queries: (n, width).
        k: entities per query.
        device: of the products; None = CPU.
    """

    def __init__(self, queries: Vectors, k: int, device: Any | None = None):
        self.k = k
        self.queries = torch.from_numpy(np.ascontiguousarray(queries, dtype=np.float32)).to(device or "cpu")
        self.scores = self.queries.new_zeros((len(queries), 0))
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
        """(n, k) each, or as many as there are entities; best first."""
        return self.scores.cpu().numpy(), self.rows.cpu().numpy()


_MAX_GOLD = 64  # searched in addition, so that gold entities do not shorten the list of negatives


@dataclass
class MiningResult:
    """The nearest wrong entities, and how long the search took.

    rows: (n, depth) int32, numbers of entities, nearest first; -1 = no more.
    scores: (n, depth) float32, their similarities; -inf where there is none.
    ranks: (n,) int64, rank of the best gold entity among all entities; 0 = not among those searched.
    seconds: total, including the embedding of the chunks.
    search_seconds: without the embedding.
    """

    rows: NDArray[np.int32]
    scores: Scores
    ranks: Numbers
    seconds: float
    search_seconds: float

    def recall(self, k: int) -> float:
        """Share of the mentions whose gold entity is among the first k."""
        return float(((self.ranks > 0) & (self.ranks <= k)).mean()) if len(self.ranks) else 0.0


def mine(
    gold: Sequence[Rows],
    chunks: Iterable[tuple[Rows, Vectors]],
    make_search: Callable[[int], Any],
    *,
    depth: int,
    n_entities: int,
) -> MiningResult:
    """Find the nearest entities of each mention, except its gold ones.

    Entities arrive in chunks that are not kept: memory does not grow with the knowledge base.

    Args:
        gold: for each mention the numbers of its gold entities.
        chunks: numbers and vectors of entities.
        make_search: k -> the search, a ``TopK``, for the mentions' k nearest entities.
        depth: entities per mention.
        n_entities: total number of entities.

    Returns:
        The negatives.
    """
    started = time.perf_counter()
    pieces = Ragged(np.concatenate([np.zeros(0, np.int64), *gold]), offsets_of(np.array([len(ids) for ids in gold])))
    search = make_search(depth + min(int(pieces.lengths.max(initial=0)), _MAX_GOLD))
    searching = 0.0
    with progress_bar("Mining", n_entities) as bar:
        for rows, vectors in chunks:
            begun = time.perf_counter()
            search.add(rows, np.asarray(vectors, dtype=np.float32))
            bar.update(len(rows))
            searching += time.perf_counter() - begun
    begun = time.perf_counter()
    scores, nearest = search.result()
    wrong = without_gold(scores, nearest, pieces, depth)
    ended = time.perf_counter()
    seconds, search_seconds = ended - started, searching + ended - begun
    return MiningResult(**wrong, seconds=seconds, search_seconds=search_seconds)


def without_gold(scores: Scores, rows: Rows, gold: Ragged, depth: int) -> dict[str, Any]:
    """Remove the gold entities from search results.

    Args:
        scores, rows: (n, k), best first; row -1 = no more entities.
        gold: n pieces, the gold entities of each mention.
        depth: number of negatives to keep.

    Returns:
        "rows" (n, depth) int32 and "scores" (n, depth), filled with -1 and -inf; "ranks"
        (n,): rank of the best gold entity, from 1; 0 = not among the k.
    """
    n_entities = max(int(rows.max(initial=0)), int(gold.values.max(initial=0))) + 1
    mention = np.arange(len(rows), dtype=np.int64)[:, None]
    is_gold = (rows >= 0) & np.isin(rows + mention * n_entities, owners(gold.offsets) * n_entities + gold.values)
    ranks = np.where(is_gold.any(axis=1), is_gold.argmax(axis=1) + 1, 0)
    order = np.argsort(is_gold | (rows < 0), axis=1, kind="stable")[:, :depth]
    removed = np.take_along_axis(is_gold | (rows < 0), order, axis=1)
    wrong_rows = np.full((len(rows), depth), -1, dtype=np.int32)
    wrong_scores = np.full((len(rows), depth), -np.inf, dtype=np.float32)
    wrong_rows[:, : order.shape[1]] = np.where(removed, -1, np.take_along_axis(rows, order, axis=1))
    wrong_scores[:, : order.shape[1]] = np.where(removed, -np.inf, np.take_along_axis(scores, order, axis=1))
    return {"rows": wrong_rows, "scores": wrong_scores, "ranks": ranks}
