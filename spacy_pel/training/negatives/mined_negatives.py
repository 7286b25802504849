"""A table of mined negatives: the nearest wrong entities of each example."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...util import atomic_path
from ...util.arrays import look_up


@dataclass
class MinedNegatives:
    """Row i holds the negatives of example ``examples[i]``. The arrays may be memory-mapped.

    examples: (n,) int64, ascending; examples that were not mined are not in the table.
    rows: (n, depth) int32, numbers of entities, the nearest first; -1 = no more.
    """

    examples: NDArray[np.int64]
    rows: NDArray[np.int32]

    @classmethod
    def empty(cls) -> "MinedNegatives":
        """An empty table."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int32))

    @property
    def depth(self) -> int:
        return self.rows.shape[1]

    def has(self, examples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n,) bool, whether an example was mined."""
        return np.isin(examples, self.examples)

    def take(self, examples: NDArray[np.int64], depth: int) -> NDArray[np.int64]:
        """Look examples up.

        Args:
            examples: (n,) example numbers.
            depth: entities per example.

        Returns:
            (n, depth) int64, nearest first; -1 where there is none.
        """
        taken = np.full((len(examples), depth), -1, dtype=np.int64)
        if len(self.examples):
            position, mined = look_up(self.examples, examples)
            width = min(depth, self.depth)
            taken[mined, :width] = self.rows[position[mined], :width]
        return taken

    def to_disk(self, path: Path) -> None:
        """Write two .npy files into a folder, atomically."""
        with atomic_path(path) as part:
            part.mkdir()
            np.save(part / "examples.npy", self.examples)
            np.save(part / "rows.npy", self.rows)

    @classmethod
    def from_disk(cls, path: Path) -> "MinedNegatives":
        """Memory-mapped. RAISES (PelError): if a file is missing or damaged."""
        try:
            arrays = [np.load(path / name, mmap_mode="r") for name in ("examples.npy", "rows.npy")]
        except (OSError, ValueError, EOFError) as err:
            raise PelError(Errors.E320.format(path=path, got=err)) from err
        if len(arrays[0]) != len(arrays[1]):
            raise PelError(Errors.E320.format(path=path, got="its files have different lengths"))
        return cls(*arrays)
