"""Mining hard negatives during a training, on a schedule; resumed runs use the same negatives."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, InitVar, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...types import Rows, Vectors
from ...util import logger
from ..checkpoint import Progress
from ..negatives import MinedNegatives
from ..negatives.mine import mine
from .batches import BatchPlanner
from .settings import MiningSettings

_CHUNK = 16_384  # cards at a time: 50 MB of vectors at width 768


def spread_chunks(n: int) -> Iterator[NDArray[np.int64]]:
    """Numbers from 0 to n - 1 in chunks; each is spread evenly, so that the first is a representative sample."""
    n_chunks = max(1, -(-n // _CHUNK))
    for chunk in range(n_chunks):
        yield np.arange(chunk, n, n_chunks)


@dataclass(eq=False)
class Miner:
    """Refreshes the planner's table of mined negatives on a schedule.

    Mining interrupts the training: it needs the current weights and the same cores or GPU, so running it
    in the background would not save time, and which batches see the new table would depend on the
    clock: the same seed would no longer give the same model.

    A table is on disk before the first update that uses it, and is deleted only after a checkpoint that no
    longer needs it: a resumed training uses the same ones.

    Args:
        planner: its ``mined`` is set here.
        settings: when and how to mine. Names without context are mined like mentions.
        folder: for the tables.
        accumulate: batches per update and process.
        world: number of processes; of each ``world`` consecutive batches, every process takes one.
        table: negatives mined beforehand; nothing is mined then.
        is_main: whether this process mines; the others wait and read its table.
        wait: waits for all processes.
        show_progress: show a bar with rate and time left.

    Raises:
        PelError: if the sampler needs more entities than are kept.
    """

    planner: BatchPlanner
    settings: MiningSettings
    folder: Path
    _: KW_ONLY
    accumulate: int = 1
    world: int = 1
    table: InitVar[MinedNegatives | None] = None
    is_main: bool = True
    wait: Callable[[], None] = lambda: None
    show_progress: bool = False

    def __post_init__(self, table: MinedNegatives | None) -> None:
        planner, asked = self.planner, self.planner.negatives.mined_depth
        self.depth = self.settings.depth or asked
        self.is_active = asked > 0 and table is None
        check_depth(asked, planner.store.n_entities, self.depth if table is None else table.depth, table is not None)
        if asked and table is not None:
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
            wanted = self.examples_until_next(state.step, total)
            if not self.planner.mined.has(wanted).all():  # max_steps was raised since then
                self._mine(encoder, state, total)

    def after_checkpoint(self, state: Progress) -> None:
        """Delete tables that no later step needs."""
        if self.is_active and self.is_main:
            for path in self.folder.glob("table-*"):
                if path != self._path(state.mined):
                    shutil.rmtree(path)

    # -- the schedule: a function of the update's number -----------------------------------------

    @property
    def _rounds_per_epoch(self) -> int:
        """Batches of each process in an epoch; remaining batches are skipped."""
        return self.planner.batches_per_epoch // self.world

    def is_due(self, step: int) -> bool:
        """Whether negatives are mined before this update."""
        if step == 0:
            return True
        if self.settings.every_steps:
            return step % self.settings.every_steps == 0
        every = self.settings.every_epochs
        epoch, epoch_before = (at * self.accumulate // self._rounds_per_epoch for at in (step, step - 1))
        return every > 0 and epoch // every != epoch_before // every

    def examples_until_next(self, step: int, total: int) -> NDArray[np.int64]:
        """The examples that are trained on from an update until the next mining or the end: no others
        need negatives.

        Args:
            step, total: the update, and the number of updates.

        Returns:
            Distinct example numbers, ascending.
        """
        stop = next((later for later in range(step + 1, total) if self.is_due(later)), total)
        first, last = step * self.accumulate, stop * self.accumulate
        rounds, batches = self._rounds_per_epoch, [np.zeros(0, dtype=np.int64)]
        for epoch in range(first // rounds, -(-last // rounds)):
            plan = self.planner.plan(epoch)
            begin = max(first - epoch * rounds, 0) * self.world
            end = min(last - epoch * rounds, rounds) * self.world
            batches += plan[begin:end]
        return np.unique(np.concatenate(batches))

    # -- mining ----------------------------------------------------------------------------

    def _mine(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        state.mined += 1
        if self.is_main:
            self._write(encoder, state, total)
        self.wait()
        self.planner.mined = MinedNegatives.from_disk(self._path(state.mined))

    def _write(self, encoder: BiEncoder, state: Progress, total: int) -> None:
        store = self.planner.store
        examples = self.examples_until_next(state.step, total)
        encoder.changed()
        queries = encoder.encode_tokens("mention", store.anchors(examples), show_progress=self.show_progress)
        device = next(encoder.towers.parameters()).device
        search = partial(self.planner.top_k, self.settings.index, queries, examples=examples, device=device)
        sizes: Any = {"depth": self.depth, "n_entities": store.n_entities, "show_progress": self.show_progress}
        result = mine(store.gold(examples), self._cards(encoder), search, **sizes)
        MinedNegatives(examples, result.rows).to_disk(self._path(state.mined))
        logger.info(
            "Mined negatives of %d examples among %d entities in %.1f s",
            *(len(examples), result.n_entities, result.seconds),
        )
        logger.info(
            "Rank of their gold entities: first %.1f %%, among the first %d %.1f %%",
            *(100 * result.recall(1), self.depth, 100 * result.recall(self.depth)),
        )

    def _cards(self, encoder: BiEncoder) -> Iterator[tuple[Rows, Vectors]]:
        cards = self.planner.store.cards
        for rows in spread_chunks(len(cards)):
            yield rows, encoder.encode_tokens("entity", cards.take(rows))

    def _path(self, number: int) -> Path:
        return self.folder / f"table-{number:05}"


def check_depth(asked: int, n_entities: int, got: int, from_file: bool = False) -> None:
    """Check that a sampler gets the negatives that it asks for.

    Args:
        asked: mined negatives of a mention.
        n_entities: of the knowledge base; all but one can be negatives.
        got: those that are kept, by the settings or in the file.
        from_file: they come from a file.

    Raises:
        PelError: if they are fewer.
    """
    if got < min(asked, n_entities - 1):
        where = "the file" if from_file else "pel.training.mining.depth"
        raise PelError(Errors.E323.format(least=asked, where=where, got=got))
