"""Mining hard negatives during a training, on a schedule; resumed runs use the same negatives."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...util import logger
from ...util.ragged import offsets_of
from ..checkpoint import Progress
from ..negatives import MinedNegatives
from ..negatives.mining.mine import mine
from ..negatives.mining.schedule import MiningSchedule
from ..negatives.mining.streaming_top_k import Parts
from .batches import BatchPlanner
from .entity_chunks import EntityChunks
from .settings import MiningSettings


class Miner:
    """Refreshes the planner's table of mined negatives on a schedule.

    Mining interrupts the training: it needs the current weights and the same cores or GPU, so running it
    in the background would not save time, and which batches see the new table would depend on the
    clock: the same seed would no longer give the same model.

    A table is on disk before the first update that uses it, and tables and vectors are deleted only
    after a checkpoint that no longer needs them: a resumed training uses the same ones.

    Args:
        planner: its ``mined`` is set here.
        settings: when and how to mine. Names without context are mined like mentions.
        folder: for the tables.
        accumulate: batches per update and process.
        world: number of processes.
        table: negatives mined beforehand; nothing is mined then.
        is_main: whether this process mines; the others wait and read its table.
        wait: waits for all processes.
        show_progress: show a bar with rate and time left.

    Raises:
        PelError: if the sampler needs more entities than are kept.
    """

    def __init__(
        self,
        planner: BatchPlanner,
        settings: MiningSettings,
        folder: Path,
        *,
        accumulate: int = 1,
        world: int = 1,
        table: MinedNegatives | None = None,
        is_main: bool = True,
        wait: Callable[[], None] = lambda: None,
        show_progress: bool = False,
    ):
        self.planner = planner
        self.settings = settings
        self.schedule = MiningSchedule(
            planner, settings.every_epochs, settings.every_steps, accumulate=accumulate, world=world
        )
        self.folder = folder
        self.is_main = is_main
        self.wait = wait
        self.show_progress = show_progress
        asked = self.planner.negatives.mined_depth
        self.depth = self.settings.depth or asked
        self.is_active = asked > 0 and table is None
        got, where = (self.depth, "pel.training.mining.depth") if table is None else (table.depth, "the file")
        if got < min(asked, self.planner.store.n_entities - 1):
            raise PelError(Errors.E323.format(least=asked, where=where, got=got))
        if asked and table is not None:
            self.planner.mined = table
        store = self.planner.store
        self.chunks = EntityChunks(store.cards, folder / "vectors", share=self.settings.share)

    def before_update(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        """Mine if it is due, or load the table of the checkpoint.

        Args:
            encoder: with the current weights of the towers.
            state: ``mined``, the number of minings, is counted here.
            total: total number of updates.
        """
        if not self.is_active:
            return
        if self.schedule.is_due(state.step):
            self._mine(encoder, state, total)
        elif not len(self.planner.mined.examples):  # resumed
            self.planner.mined = MinedNegatives.from_disk(self._path(state.mined))
            wanted = self.schedule.examples_until_next(state.step, total)
            if not self.planner.mined.has(wanted).all():  # max_steps was raised since then
                self._mine(encoder, state, total)

    def after_checkpoint(self, state: Progress) -> None:
        """Delete tables and vectors that no later step needs."""
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
        self.planner.mined = MinedNegatives.from_disk(self._path(state.mined))

    def _write(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        store = self.planner.store
        examples = self.schedule.examples_until_next(state.step, total)
        gold = store.gold(examples)
        encoder.changed()
        anchors = store.anchors(examples)
        queries = encoder.encode_tokens("mention", anchors, show_progress=self.show_progress)
        parts = self.planner.parts
        result = mine(
            queries,
            np.concatenate(gold),
            offsets_of(np.array([len(places) for places in gold])),
            self.chunks.embed(encoder, state.mined),
            depth=self.depth,
            n_entities=store.n_entities,
            index=self.settings.index,
            parts=None if parts is None else Parts(parts.of_query[examples], parts.of_entity),
            device=next(encoder.towers.parameters()).device,
            show_progress=self.show_progress,
        )
        MinedNegatives(examples, result.rows).to_disk(self._path(state.mined))
        logger.info(
            "Mined negatives of %d examples among %d entities in %.1f s",
            *(len(examples), result.n_entities, result.seconds),
        )
        logger.info(
            "Rank of their gold entities: first %.1f %%, among the first %d %.1f %%",
            *(100 * result.recall(1), self.depth, 100 * result.recall(self.depth)),
        )

    def _path(self, number: int) -> Path:
        return self.folder / f"table-{number:05}"
