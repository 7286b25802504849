"""Hard negatives during a training: mined on a schedule, the same after a kill."""

import shutil
from pathlib import Path
from typing import Any, Callable, Dict, Optional

import numpy as np

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...negatives import MinedTable
from ...negatives.mining.mine import mine
from ...negatives.mining.schedule import Schedule
from ...util import logger
from ...util.ragged import offsets_of
from ..checkpoint import Progress
from .entity_chunks import EntityChunks


class Mining:
    """Keeps the planner's table of mined negatives as fresh as the schedule says.

    Mining stops the training meanwhile: it needs the weights as they are and the same cores or
    GPU, so that in the background neither would be done sooner, and which batches would see the
    new table would depend on the clock: the same seed would no longer give the same model.

    A table is on the disk before the first update that uses it, and tables and vectors are deleted
    only after a checkpoint that needs them no more: a killed training goes on with the same ones.

    schedule (Schedule): when, and for which examples. Names without context are mined like mentions.
    folder (Path): for the tables.
    table (Optional[MinedTable]): negatives that were mined beforehand; nothing is mined then.
    is_main (bool): the process that mines; the others wait and read its table.
    wait (Callable): waits for all processes.
    show_progress (bool): show a bar with rate and time left.
    RAISES (PelError): if the sampler looks at more entities than are kept.
    """

    def __init__(
        self,
        schedule: Schedule,
        folder: Path,
        *,
        table: Optional[MinedTable] = None,
        is_main: bool = True,
        wait: Callable[[], None] = lambda: None,
        show_progress: bool = False,
    ):
        self.schedule = schedule
        self.planner = schedule.planner
        self.settings = schedule.mining
        self.folder = folder
        self.is_main = is_main
        self.wait = wait
        self.show_progress = show_progress
        asked = self.planner.negatives.mined_depth
        self.depth = self.settings.depth or asked
        self.is_active = asked > 0 and table is None
        came, where = (
            (self.depth, "pel.training.mining.depth") if table is None else (table.depth, "the file")
        )
        if came < min(asked, self.planner.store.n_entities - 1):
            raise PelError(Errors.E323.format(least=asked, where=where, came=came))
        if asked and table is not None:
            self.planner.mined = table
        store = self.planner.store
        self.chunks = EntityChunks(store.cards, folder / "vectors", share=self.settings.share)

    def before_update(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        """Mine if it is time, or take up the table of the checkpoint.

        encoder (BiEncoder): its towers are being trained.
        state (Progress): ``mined``, the number of minings, is counted here.
        total (int): updates in all.
        """
        if not self.is_active:
            return
        if self.schedule.is_due(state.step):
            self._mine(encoder, state, total)
        elif not len(self.planner.mined.examples):  # resumed
            self.planner.mined = MinedTable.from_disk(self._path(state.mined))
            wanted = self.schedule.examples_until_next(state.step, total)
            if not self.planner.mined.has(wanted).all():  # more steps than were planned then
                self._mine(encoder, state, total)

    def after_checkpoint(self, state: Progress) -> None:
        """Delete what neither the checkpoint nor what follows it needs."""
        if self.is_active and self.is_main:
            for path in self.folder.glob("table-*"):
                if path != self._path(state.mined):
                    shutil.rmtree(path)
            self.chunks.forget(state.mined)

    def _mine(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        state.mined += 1
        if self.is_main:
            self._write(encoder, state, total)
        self.wait()
        self.planner.mined = MinedTable.from_disk(self._path(state.mined))

    def _write(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        store = self.planner.store
        examples = self.schedule.examples_until_next(state.step, total)
        gold = store.gold(examples)
        encoder.changed()
        anchors = store.anchors(examples)
        queries = encoder.encode_tokens("mention", anchors, show_progress=self.show_progress)
        mined = mine(
            queries,
            np.concatenate(gold),
            offsets_of(np.array([len(places) for places in gold])),
            self.chunks.embed(encoder, state.mined),
            depth=self.depth,
            n_entities=store.n_entities,
            index=self.settings.index,
            device=next(encoder.towers.parameters()).device,
            show_progress=self.show_progress,
        )
        MinedTable(examples, mined.rows).to_disk(self._path(state.mined))
        figures: Dict[str, Any] = {"n": len(examples), "entities": mined.n_entities, "s": mined.seconds}
        logger.info("Mined negatives of %(n)d examples among %(entities)d entities in %(s).1f s", figures)
        logger.info(
            "Of their gold entities %.1f %% are first, %.1f %% among the first %d",
            100 * mined.recall(1),
            100 * mined.recall(self.depth),
            self.depth,
        )

    def _path(self, number: int) -> Path:
        return self.folder / f"table-{number:05}"
