"""Which batches belong to which update, and at which updates negatives are mined."""

from dataclasses import dataclass
from typing import List

import numpy as np
from numpy.typing import NDArray

from ...training.retriever.batches import BatchPlanner
from ...training.retriever.settings import MiningSettings


@dataclass
class Schedule:
    """All of it follows from the number of an update.

    planner: gives the batches of an epoch.
    mining: how often.
    accumulate: batches per update and process.
    world: processes; each takes one of ``world`` batches that follow each other.
    """

    planner: BatchPlanner
    mining: MiningSettings
    accumulate: int = 1
    world: int = 1

    @property
    def rounds_per_epoch(self) -> int:
        """RETURNS (int): how often every process gets a batch; those left over are skipped."""
        return self.planner.batches_per_epoch // self.world

    def epoch(self, step: int) -> int:
        """RETURNS (int): the epoch of an update's first batch."""
        return step * self.accumulate // self.rounds_per_epoch

    def is_due(self, step: int) -> bool:
        """RETURNS (bool): whether negatives are mined before this update."""
        if step == 0:
            return True
        if self.mining.every_steps:
            return step % self.mining.every_steps == 0
        every = self.mining.every_epochs
        return every > 0 and self.epoch(step) // every != self.epoch(step - 1) // every

    def examples_until_next(self, step: int, total: int) -> NDArray[np.int64]:
        """The examples that are trained on from an update until the next mining, or the end: no
        others need negatives.

        RETURNS (NDArray): distinct example numbers, ascending.
        """
        stop = next((later for later in range(step + 1, total) if self.is_due(later)), total)
        first, last = step * self.accumulate, stop * self.accumulate
        rounds, found = self.rounds_per_epoch, [np.zeros(0, dtype=np.int64)]
        for epoch in range(first // rounds, -(-last // rounds)):
            plan: List[NDArray[np.int64]] = self.planner.plan(epoch)
            begin = max(first - epoch * rounds, 0) * self.world
            end = min(last - epoch * rounds, rounds) * self.world
            found += plan[begin:end]
        return np.unique(np.concatenate(found))
