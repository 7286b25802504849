"""Mining hard negatives: during a training, on a schedule, or for a whole corpus at once, to a file with one JSON
line per mention.

``{"doc", "start", "end", "text", "gold": [id, ...], "rank": 3, "negatives": [[id, score], ...]}``:
"rank" is the rank of the best gold entity among all entities, null if it was not found; the negatives
are sorted, nearest first."""

import shutil
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...types import Encoder, Numbers
from ...util import logger, read_jsonl
from ...util.console import percent
from ..checkpoint import Progress
from ..mining import MiningResult, TopK, mine
from ..negatives import MinedNegatives
from .batches import BatchPlanner
from .example_store import ExampleStore
from .examples import LinkedMention, live_numbers, mention_keys

_CHUNK = 16_384  # cards at a time: 50 MB of vectors at width 768


def spread_chunks(n: int) -> Iterator[Numbers]:
    """Numbers from 0 to n - 1 in chunks; each is spread evenly, so that the first is a representative sample."""
    n_chunks = max(1, -(-n // _CHUNK))
    for chunk in range(n_chunks):
        yield np.arange(chunk, n, n_chunks)


class Miner:
    """Refreshes the planner's table of mined negatives on a schedule.

    Mining interrupts the training: it needs the current weights and the same cores or GPU, so running it
    in the background would not save time, and which batches see the new table would depend on the
    clock: the same seed would no longer give the same model.

    A table is on disk before the first update that uses it, and is deleted only after a checkpoint that no
    longer needs it: a resumed training uses the same ones.

    Args:
        planner: its ``mined`` is set here. Names without context are mined like mentions.
        folder: for the tables.
        every_epochs: epochs between two minings; 0 = mine only once.
        accumulate: batches per update.
        table: negatives mined beforehand; nothing is mined then.

    Raises:
        PelError: if the sampler needs more negatives than the table has.
    """

    def __init__(
        self,
        planner: BatchPlanner,
        folder: Path,
        *,
        every_epochs: int = 1,
        accumulate: int = 1,
        table: MinedNegatives | None = None,
    ):
        self.planner, self.folder = planner, folder
        self.every_epochs, self.accumulate = every_epochs, accumulate
        self.depth = planner.negatives.mined_depth
        self.is_active = self.depth > 0 and table is None
        if self.depth and table is not None:
            if table.depth < min(self.depth, planner.store.n_entities - 1):
                raise PelError(Errors.E323.format(least=self.depth, got=table.depth))
            planner.mined = table

    def before_update(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        """Mine if it is due, or load the table of the checkpoint.

        Args:
            encoder: with the current weights of the towers.
            state: ``mined``, the number of minings, is counted here.
            total: total number of updates.
        """
        if not self.is_active:
            return
        if self.is_due(state.step):
            self._mine(encoder, state, total)
        elif not len(self.planner.mined.examples):  # resumed
            self.planner.mined = MinedNegatives.from_disk(self._path(state.mined))
            if not self.planner.mined.has(self.examples_until_next(state.step, total)).all():
                self._mine(encoder, state, total)  # max_steps was raised since then

    def after_checkpoint(self, state: Progress) -> None:
        """Delete tables that no later step needs."""
        if self.is_active:
            for path in self.folder.glob("table-*"):
                if path != self._path(state.mined):
                    shutil.rmtree(path)

    # -- the schedule: a function of the update's number -----------------------------------------

    def is_due(self, step: int) -> bool:
        """Whether negatives are mined before this update."""
        per_epoch, every = self.planner.batches_per_epoch, self.every_epochs
        epoch, epoch_before = (at * self.accumulate // per_epoch for at in (step, step - 1))
        return step == 0 or (every > 0 and epoch // every != epoch_before // every)

    def examples_until_next(self, step: int, total: int) -> Numbers:
        """The examples that are trained on from an update until the next mining or the end: no others
        need negatives.

        Args:
            step, total: the update, and the number of updates.

        Returns:
            Distinct example numbers, ascending.
        """
        stop = next((later for later in range(step + 1, total) if self.is_due(later)), total)
        first, last = step * self.accumulate, stop * self.accumulate
        per_epoch, batches = self.planner.batches_per_epoch, [np.zeros(0, dtype=np.int64)]
        for epoch in range(first // per_epoch, -(-last // per_epoch)):
            batches += self.planner.plan(epoch)[max(first - epoch * per_epoch, 0) : last - epoch * per_epoch]
        return np.unique(np.concatenate(batches))

    # -- mining ----------------------------------------------------------------------------

    def _mine(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        state.mined += 1
        store = self.planner.store
        examples = self.examples_until_next(state.step, total)
        encoder.changed()
        queries = encoder.encode_tokens("mention", store.anchors(examples), show_progress=True)
        device = next(encoder.towers.parameters()).device
        search = partial(self.planner.search, queries, examples=examples, device=device)
        chunks = spread_chunks(len(store.cards))
        cards = ((rows, encoder.encode_tokens("entity", store.cards.take(rows))) for rows in chunks)
        result = mine(store.gold(examples), cards, search, depth=self.depth, n_entities=store.n_entities)
        MinedNegatives(examples, result.rows).to_disk(self._path(state.mined))
        self.planner.mined = MinedNegatives.from_disk(self._path(state.mined))
        logger.info(
            "Mined negatives of %d examples among %d entities in %.1f s; rank of their gold entities: first %s, "
            "among the first %d %s",
            *(len(examples), store.n_entities, result.seconds),
            *(percent(result.recall(1)), self.depth, percent(result.recall(self.depth))),
        )

    def _path(self, number: int) -> Path:
        return self.folder / f"table-{number:05}"


def mine_corpus(
    kb: KnowledgeBase, encoder: Encoder, mentions: Sequence[LinkedMention], *, depth: int
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
    queries = encoder.encode_mentions([m.mention for m in mentions], show_progress=True)
    encoded = time.perf_counter() - started
    towers = getattr(encoder, "towers", None)  # HashEmbed has none
    device = None if towers is None else next(towers.parameters()).device
    gold = [mention.entities for mention in mentions]
    cards = (
        (numbers, encoder.encode_entities([kb.entity_at(int(row)) for row in kb.live_rows[numbers]]))
        for numbers in spread_chunks(len(kb))
    )
    result = mine(gold, cards, partial(TopK, queries, device=device), depth=depth, n_entities=len(kb))
    seconds = encoded + result.seconds
    metrics: dict[str, Any] = {"mentions": len(mentions), "entities": len(kb), "depth": depth}
    metrics |= {"gold_first": result.recall(1), "gold_in_depth": result.recall(depth)}
    metrics |= {"seconds": seconds, "seconds_mentions": encoded}
    metrics |= {"seconds_entities": result.seconds - result.search_seconds, "seconds_search": result.search_seconds}
    metrics |= {"mentions_per_second": len(mentions) / seconds, "entities_per_second": len(kb) / seconds}
    return result, metrics


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
    negatives: dict[int, Numbers] = {}
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
