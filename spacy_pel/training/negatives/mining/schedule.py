"""When negatives are mined during a training, and for which examples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class EpochPlanner(Protocol):
    """Plans the batches of an epoch as example numbers; the same epoch gives the same plan."""

    @property
    def batches_per_epoch(self) -> int: ...

    def plan(self, epoch: int) -> Sequence[NDArray[np.int64]]: ...


@dataclass
class MiningSchedule:
    """Which batches belong to which update, and before which updates negatives are mined. Everything
    is a function of the update's number.

    planner: gives the batches of an epoch.
    every_epochs: epochs between two minings.
    every_steps: steps between two minings, instead of epochs; both 0 = mine only at the start.
    accumulate: batches per update and process.
    world: number of processes; of each ``world`` consecutive batches, every process takes one.
    """

    planner: EpochPlanner
    every_epochs: int = 1
    every_steps: int = 0
    accumulate: int = 1
    world: int = 1

    @property
    def rounds_per_epoch(self) -> int:
        """Batches of each process in an epoch; remaining batches are skipped."""
        return self.planner.batches_per_epoch // self.world

    def epoch(self, step: int) -> int:
        """The epoch of an update's first batch."""
        return step * self.accumulate // self.rounds_per_epoch

    def is_due(self, step: int) -> bool:
        """Whether negatives are mined before this update."""
        if step == 0:
            return True
        if self.every_steps:
            return step % self.every_steps == 0
        every = self.every_epochs
        return every > 0 and self.epoch(step) // every != self.epoch(step - 1) // every

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
        rounds, found = self.rounds_per_epoch, [np.zeros(0, dtype=np.int64)]
        for epoch in range(first // rounds, -(-last // rounds)):
            plan = self.planner.plan(epoch)
            begin = max(first - epoch * rounds, 0) * self.world
            end = min(last - epoch * rounds, rounds) * self.world
            found += plan[begin:end]
        return np.unique(np.concatenate(found))
