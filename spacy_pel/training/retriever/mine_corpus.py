"""Mining for a whole corpus at once, with any encoder, and its file: one JSON line per mention.

``{"doc", "start", "end", "text", "gold": [id, ...], "rank": 3, "negatives": [[id, score], ...]}``:
"rank" is the rank of the best gold entity among all entities, null if it was not found; the negatives
are sorted, nearest first.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...types import Encoder, Rows, Vectors
from ...util import logger, read_jsonl
from ..negatives import MinedNegatives
from ..negatives.mine import MiningResult, mine
from ..negatives.top_k import IndexKind, make_top_k
from .example_store import ExampleStore
from .examples import LinkedMention, live_numbers, mention_keys
from .miner import spread_chunks


def mine_corpus(
    kb: KnowledgeBase,
    encoder: Encoder,
    mentions: Sequence[LinkedMention],
    *,
    depth: int,
    index: IndexKind = "flat",
    show_progress: bool = False,
) -> tuple[MiningResult, dict[str, Any]]:
    """Find the nearest wrong entities of the mentions of a corpus.

    Args:
        kb: all of its live entities are searched, by their cards.
        encoder: if it is on a GPU, the search runs there.
        mentions: from ``linked_mentions``.
        depth: entities per mention.

    Returns:
        The negatives (numbers of the KB's live entities), and metrics: counts, seconds,
        rates, and the share of mentions whose gold entity is first, or among the first ``depth``.
    """
    started = time.perf_counter()
    queries = encoder.encode_mentions([m.mention for m in mentions], show_progress=show_progress)
    encoded = time.perf_counter() - started
    towers = getattr(encoder, "towers", None)  # HashEmbed has none
    device = None if towers is None else next(towers.parameters()).device
    gold = [mention.entities for mention in mentions]
    sizes: Any = {"depth": depth, "n_entities": len(kb), "show_progress": show_progress}
    result = mine(gold, _cards(kb, encoder), lambda k: make_top_k(index, queries, k, len(kb), device), **sizes)
    seconds = encoded + result.seconds
    metrics: dict[str, Any] = {"mentions": len(mentions), "entities": len(kb), "depth": depth, "index": index}
    metrics |= {"gold_first": result.recall(1), "gold_in_depth": result.recall(depth)}
    metrics |= {"seconds": seconds, "seconds_mentions": encoded}
    metrics |= {"seconds_entities": result.seconds - result.search_seconds, "seconds_search": result.search_seconds}
    metrics |= {"mentions_per_second": len(mentions) / seconds, "entities_per_second": len(kb) / seconds}
    return result, metrics


def _cards(kb: KnowledgeBase, encoder: Encoder) -> Iterator[tuple[Rows, Vectors]]:
    for numbers in spread_chunks(len(kb)):
        yield numbers, encoder.encode_entities([kb.entity_at(int(row)) for row in kb.live_rows[numbers]])


def mined_records(
    kb: KnowledgeBase, mentions: Sequence[LinkedMention], result: MiningResult
) -> Iterator[dict[str, Any]]:
    """One record per mention, for ``write_jsonl``."""
    live = kb.live_rows
    for mention, rows, scores, rank in zip(mentions, result.rows, result.scores, result.ranks, strict=True):
        mined = rows >= 0
        ids = kb.ids_at(live[rows[mined]])
        place = {"doc": mention.document, "start": mention.mention.start, "end": mention.mention.end}
        gold = {"text": mention.mention.surface, "gold": list(mention.ids), "rank": int(rank) or None}
        negatives = [[key, round(float(s), 6)] for key, s in zip(ids, scores[mined], strict=True)]
        yield {**place, **gold, "negatives": negatives}


def read_mined_negatives(path: Path, kb: KnowledgeBase, store: ExampleStore) -> MinedNegatives:
    """Read negatives for the mentions of a training corpus. Mentions that are not in the file get random
    negatives, and so do names without context. Gold ids and ids that are not in the knowledge base are
    left out.

    Args:
        path: written by ``spacy-pel mine``.

    Returns:
        Of the mentions in the file.

    Raises:
        PelError: if the file has none of the mentions, or a line is malformed.
    """
    number_of_row = live_numbers(kb)
    order = np.argsort(store.mention_key, kind="stable")
    keys: NDArray[np.uint64] = store.mention_key[order]
    negatives: dict[int, NDArray[np.int64]] = {}
    for number, record in enumerate(read_jsonl(path), start=1):
        try:
            key = mention_keys([(record["doc"], record["start"], record["end"])])[0]
            ids: list[str] = [entity_id for entity_id, _ in record["negatives"]]
        except (KeyError, TypeError, ValueError) as err:
            got = f"line {number} is malformed: {type(err).__name__} {err}"
            raise PelError(Errors.E324.format(path=path, got=got)) from err
        first, last = np.searchsorted(keys, [key, key + np.uint64(1)])
        if first < last:
            rows = kb.rows(ids) if ids else np.zeros(0, dtype=np.int64)
            entities = number_of_row[rows[rows >= 0]]
            for example in order[first:last].tolist():
                negatives[example] = entities[~np.isin(entities, store.mention_gold[example])]
    if not negatives:
        raise PelError(Errors.E324.format(path=path, got="it has none of them"))
    logger.info("Mined negatives of %d of %d mentions in %s", len(negatives), len(store.mentions), path)
    examples = np.array(sorted(negatives), dtype=np.int64)
    table = np.full((len(examples), max(map(len, negatives.values()))), -1, dtype=np.int32)
    for i, example in enumerate(examples.tolist()):
        table[i, : len(negatives[example])] = negatives[example]
    return MinedNegatives(examples, table)
