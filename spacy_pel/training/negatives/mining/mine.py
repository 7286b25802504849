"""Mining: the nearest wrong entities of each mention, over the whole knowledge base."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....types import Rows, Scores, Vectors
from .streaming_top_k import IndexKind, Parts, PartsTopK, StreamingTopK, make_top_k

_MAX_GOLD = 64  # searched in addition, so that gold entities do not shorten the list of negatives


@dataclass
class MiningResult:
    """The nearest wrong entities, and how long the search took.

    rows: (n, depth) int32, numbers of entities, nearest first; -1 = no more.
    scores: (n, depth) float32, their similarities; -inf where there is none.
    ranks: (n,) int64, rank of the best gold entity among all entities; 0 = not among those searched.
    n_entities: entities compared with each mention.
    seconds: total, including the embedding of the chunks.
    search_seconds: without the embedding.
    """

    rows: NDArray[np.int32]
    scores: Scores
    ranks: NDArray[np.int64]
    n_entities: int
    seconds: float
    search_seconds: float

    def recall(self, k: int) -> float:
        """Share of the mentions whose gold entity is among the first k."""
        return float(((self.ranks > 0) & (self.ranks <= k)).mean()) if len(self.ranks) else 0.0


def mine(
    queries: Vectors,
    gold: NDArray[np.int64],
    offsets: NDArray[np.int64],
    chunks: Iterable[tuple[Rows, Vectors]],
    *,
    depth: int,
    n_entities: int,
    index: IndexKind = "flat",
    parts: Parts | None = None,
    device: Any | None = None,
    show_progress: bool = False,
) -> MiningResult:
    """Find the nearest entities of each mention, except its gold ones.

    Entities arrive in chunks that are not kept (except for "ivf"): memory does not grow with the
    knowledge base.

    Args:
        queries: (n, width), vectors of mentions as an encoder gives them for an index: the largest
            inner products are the nearest.
        gold, offsets: gold entities of mention i are ``gold[offsets[i]:offsets[i + 1]]``.
        chunks: numbers and vectors of entities.
        depth: entities per mention.
        n_entities: total number of entities.
        index: see ``make_top_k``.
        parts: mine, and rank gold entities, among the entities of the mention's own part;
            None = among all.
        device: device of the encoder.
        show_progress: show a bar with rate and time left.

    Returns:
        The negatives.
    """
    import sys

    from tqdm import tqdm

    started = time.perf_counter()
    most_gold = min(int(np.diff(offsets).max(initial=0)), _MAX_GOLD)
    k = depth + most_gold
    search: StreamingTopK
    if parts is None:
        search = make_top_k(index, queries, k, n_entities, device)
    else:
        search = PartsTopK(index, queries, k, parts, device)
    interval = 0.5 if sys.stderr.isatty() else 10.0
    hidden, searching = not show_progress, 0.0
    with tqdm(total=n_entities, desc="Mining", unit="entity", disable=hidden, mininterval=interval) as bar:
        for rows, vectors in chunks:
            begun = time.perf_counter()
            search.add(rows, np.asarray(vectors, dtype=np.float32))
            bar.update(len(rows))
            searching += time.perf_counter() - begun
    begun = time.perf_counter()
    scores, rows = search.result()
    kept = without_gold(scores, rows, gold, offsets, depth)
    ended = time.perf_counter()
    return MiningResult(
        **kept, n_entities=n_entities, seconds=ended - started, search_seconds=searching + ended - begun
    )


def without_gold(
    scores: Scores, rows: Rows, gold: NDArray[np.int64], offsets: NDArray[np.int64], depth: int
) -> dict[str, NDArray[Any]]:
    """Remove the gold entities from search results.

    Args:
        scores, rows: (n, k), best first; row -1 = no more entities.
        gold, offsets: gold entities of mention i are ``gold[offsets[i]:offsets[i + 1]]``.
        depth: number of negatives to keep.

    Returns:
        "rows" (n, depth) int32 and "scores" (n, depth), filled with -1 and -inf; "ranks"
        (n,): rank of the best gold entity, from 1; 0 = not among the k.
    """
    n_entities = max(int(rows.max(initial=0)), int(gold.max(initial=0))) + 1
    owner = np.arange(len(rows), dtype=np.int64)
    keys = np.repeat(owner, np.diff(offsets)) * n_entities + gold
    is_gold = (rows >= 0) & np.isin(rows + owner[:, None] * n_entities, keys)
    ranks = np.where(is_gold.any(axis=1), is_gold.argmax(axis=1) + 1, 0)
    order = np.argsort(is_gold | (rows < 0), axis=1, kind="stable")[:, :depth]
    removed = np.take_along_axis(is_gold | (rows < 0), order, axis=1)
    kept_rows = np.full((len(rows), depth), -1, dtype=np.int32)
    kept_scores = np.full((len(rows), depth), -np.inf, dtype=np.float32)
    kept_rows[:, : order.shape[1]] = np.where(removed, -1, np.take_along_axis(rows, order, axis=1))
    kept_scores[:, : order.shape[1]] = np.where(removed, -np.inf, np.take_along_axis(scores, order, axis=1))
    return {"rows": kept_rows, "scores": kept_scores, "ranks": ranks}
