"""Mining: for each mention the nearest entities that are not its own, over the whole knowledge base."""

import time
from dataclasses import dataclass
from typing import Any, Iterable, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from ...types import Rows, Scores, Vectors
from .streaming_top_k import IndexKind, drop_gold, make_search

_MORE = 64  # gold entities of one mention that do not make its list of negatives shorter


@dataclass
class Mined:
    """What was found.

    rows: (n, depth) int32, places of entities, nearest first; -1 = there are no more.
    scores: (n, depth) float32, their similarities; -inf where there is none.
    ranks: (n,) int64, rank of the best gold entity among all entities; 0 = too deep to be seen.
    n_entities: compared with each mention.
    seconds: until all was done, the embedding of the chunks included.
    search_seconds: of these without it.
    """

    rows: NDArray[np.int32]
    scores: Scores
    ranks: NDArray[np.int64]
    n_entities: int
    seconds: float
    search_seconds: float

    def recall(self, k: int) -> float:
        """RETURNS (float): share of the mentions whose gold entity is among the first k."""
        return float(((self.ranks > 0) & (self.ranks <= k)).mean()) if len(self.ranks) else 0.0


def mine(
    queries: Vectors,
    gold: NDArray[np.int64],
    offsets: NDArray[np.int64],
    chunks: Iterable[Tuple[Rows, Vectors]],
    *,
    depth: int,
    n_entities: int,
    index: IndexKind = "flat",
    device: Optional[Any] = None,
    show_progress: bool = False,
) -> Mined:
    """Find the nearest entities of each mention, its gold ones left out.

    The entities come in chunks and are forgotten again (but for "ivf"): memory does not grow with
    the knowledge base.

    queries (Vectors): (n, width), vectors of mentions as an encoder gives them for an index: the largest
        inner products are the nearest.
    gold, offsets (NDArray): gold entities of mention i are ``gold[offsets[i]:offsets[i + 1]]``.
    chunks (Iterable[Tuple[Rows, Vectors]]): places and vectors of entities.
    depth (int): how many for each mention.
    n_entities (int): how many there are in all chunks.
    index (IndexKind): see ``make_search``.
    device (Optional[torch.device]): where the encoder is.
    show_progress (bool): show a bar with rate and time left.
    RETURNS (Mined): the negatives.
    """
    import sys

    from tqdm import tqdm

    started = time.perf_counter()
    most_gold = min(int(np.diff(offsets).max(initial=0)), _MORE)
    search = make_search(index, queries, depth + most_gold, n_entities, device)
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
    kept = drop_gold(scores, rows, gold, offsets, depth)
    ended = time.perf_counter()
    return Mined(
        **kept, n_entities=n_entities, seconds=ended - started, search_seconds=searching + ended - begun
    )
