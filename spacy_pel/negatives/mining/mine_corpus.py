"""Mining for a corpus at once, with any encoder: for the command ``mine`` and the benchmark."""

import time
from typing import Any, Dict, Iterator, Sequence, Tuple

import numpy as np

from ...kb import KnowledgeBase
from ...training.retriever.examples import GoldMention
from ...types import Encoder, Rows, Vectors
from ...util.ragged import offsets_of
from .mine import Mined, mine
from .streaming_top_k import IndexKind

_CHUNK = 16_384  # cards at a time: 50 MB of vectors at width 768


def mine_corpus(
    kb: KnowledgeBase,
    encoder: Encoder,
    mentions: Sequence[GoldMention],
    *,
    depth: int,
    index: IndexKind = "flat",
    show_progress: bool = False,
) -> Tuple[Mined, Dict[str, Any]]:
    """Find the nearest entities of mentions, their gold ones left out.

    kb (KnowledgeBase): all of its live entities are compared, by their cards.
    encoder (Encoder): on a GPU, entities are compared there.
    mentions (Sequence[GoldMention]): from ``gold_mentions``.
    depth (int): how many for each mention.
    RETURNS (tuple): the negatives (places among the KB's live rows), and figures: counts, seconds,
        rates, and the share of mentions whose gold entity is first, or among the first ``depth``.
    """
    started = time.perf_counter()
    queries = encoder.encode_mentions([m.mention for m in mentions], show_progress=show_progress)
    encoded = time.perf_counter() - started
    towers = getattr(encoder, "towers", None)  # a HashEmbed has none
    mined = mine(
        queries,
        np.concatenate([mention.places for mention in mentions]),
        offsets_of(np.array([len(mention.places) for mention in mentions])),
        _cards(kb, encoder),
        depth=depth,
        n_entities=len(kb),
        index=index,
        device=None if towers is None else next(towers.parameters()).device,
        show_progress=show_progress,
    )
    seconds = encoded + mined.seconds
    return mined, {
        "mentions": len(mentions),
        "entities": len(kb),
        "depth": depth,
        "index": index,
        "gold_first": mined.recall(1),
        "gold_in_depth": mined.recall(depth),
        "seconds": seconds,
        "seconds_mentions": encoded,
        "seconds_entities": mined.seconds - mined.search_seconds,
        "seconds_search": mined.search_seconds,
        "mentions_per_second": len(mentions) / seconds,
        "entities_per_second": len(kb) / seconds,
    }


def _cards(kb: KnowledgeBase, encoder: Encoder) -> Iterator[Tuple[Rows, Vectors]]:
    """YIELDS (Tuple[Rows, Vectors]): places and vectors; each chunk lies evenly over the KB."""
    live = kb.live_rows
    n_chunks = max(1, -(-len(live) // _CHUNK))
    for chunk in range(n_chunks):
        places = np.arange(chunk, len(live), n_chunks)
        yield places, encoder.encode_entities([kb.entity_at(int(row)) for row in live[places]])
