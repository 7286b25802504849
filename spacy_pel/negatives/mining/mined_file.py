"""Mined negatives as JSON lines: one line a mention.

``{"doc", "start", "end", "text", "gold": [id, ...], "rank": 3, "negatives": [[id, score], ...]}``:
"rank" is that of the best gold entity among all entities, null where it lies deeper than was looked;
the negatives are the nearest first.
"""

from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...training.retriever.example_store import ExampleStore
from ...training.retriever.examples import GoldMention, mention_keys, places_of_rows
from ...util import logger, read_jsonl
from .. import MinedTable
from .mine import Mined


def mined_lines(kb: KnowledgeBase, mentions: Sequence[GoldMention], mined: Mined) -> Iterator[Dict[str, Any]]:
    """YIELDS (dict): the line of each mention."""
    live = kb.live_rows
    for mention, rows, scores, rank in zip(mentions, mined.rows, mined.scores, mined.ranks, strict=True):
        there = rows >= 0
        ids = kb.ids_at(live[rows[there]])
        yield {
            "doc": mention.document,
            "start": mention.mention.start,
            "end": mention.mention.end,
            "text": mention.mention.surface,
            "gold": list(mention.ids),
            "rank": int(rank) or None,
            "negatives": [[key, round(float(s), 6)] for key, s in zip(ids, scores[there], strict=True)],
        }


def read_mined(path: Path, kb: KnowledgeBase, store: ExampleStore) -> MinedTable:
    """Read negatives for the mentions of a training corpus. Mentions that the file lacks get random
    negatives, and so do names without context; ids that the knowledge base lacks and gold ones are
    left out.

    path (Path): from ``spacy-pel mine``.
    RETURNS (MinedTable): of the mentions that the file has.
    RAISES (PelError): if the file has none of the mentions, or a line lacks a key.
    """
    place = places_of_rows(kb)
    order = np.argsort(store.mention_key, kind="stable")
    keys: NDArray[np.uint64] = store.mention_key[order]
    found: Dict[int, NDArray[np.int64]] = {}
    for number, record in enumerate(read_jsonl(path), start=1):
        try:
            key = mention_keys([(record["doc"], record["start"], record["end"])])[0]
            ids: List[str] = [entity_id for entity_id, _ in record["negatives"]]
        except (KeyError, TypeError, ValueError) as err:
            came = f"line {number} is no such line: {type(err).__name__} {err}"
            raise PelError(Errors.E324.format(path=path, came=came)) from err
        first, last = np.searchsorted(keys, [key, key + np.uint64(1)])
        if first < last:
            rows = kb.rows(ids) if ids else np.zeros(0, dtype=np.int64)
            places = place[rows[rows >= 0]]
            for example in order[first:last].tolist():
                found[example] = places[~np.isin(places, store.mention_gold[example])]
    if not found:
        raise PelError(Errors.E324.format(path=path, came="it has none of them"))
    logger.info("Mined negatives of %d of %d mentions in %s", len(found), len(store.mentions), path)
    examples = np.array(sorted(found), dtype=np.int64)
    table = np.full((len(examples), max(map(len, found.values()))), -1, dtype=np.int32)
    for i, example in enumerate(examples.tolist()):
        table[i, : len(found[example])] = found[example]
    return MinedTable(examples, table)
