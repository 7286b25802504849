"""Compares all vectors with all vectors in NumPy: slow and simple. The reference for the tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..registry import registry
from ..types import Rows, Scores, Vectors
from ..util import atomic_path
from .checks import check_vectors, unreadable

_FILE = "vectors.npy"
_BLOCK = 256  # queries at a time


@registry.pel_indexes("spacy-pel.BruteForce.v1")
class BruteForce:
    """Exact inner products over float32 vectors in memory. Equal scores: the lower row first."""

    name = "spacy-pel.BruteForce.v1"
    needs_training = False
    precision = "fp32"  # ``vectors`` returns what was added

    def __init__(self) -> None:
        self.width = 0
        self._vectors: Vectors = np.empty((0, 0), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def train(self, vectors: Vectors) -> None:
        """Fix the width; there is nothing to learn."""
        self.width = vectors.shape[1]
        self._vectors = np.empty((0, self.width), dtype=np.float32)

    def add(self, vectors: Vectors) -> None:
        """Append vectors; their rows follow the existing ones.

        Raises:
            PelError: if the width differs.
        """
        check_vectors(vectors, self.width)
        self._vectors = np.concatenate([self._vectors, vectors.astype(np.float32, copy=False)])

    def finish(self, groups: NDArray[np.uint8] | None = None) -> None:
        """There is nothing to do once all rows are added."""

    def search(self, vectors: Vectors, k: int, allowed: NDArray[np.bool_] | None = None) -> tuple[Scores, Rows]:
        """Find the nearest rows.

        Args:
            vectors: (n, width) queries.
            k: how many rows each.
            allowed: (rows,), False = never found.

        Returns:
            (n, k) each, best first; row -1 where there are fewer than k.

        Raises:
            PelError: if the width differs.
        """
        check_vectors(vectors, self.width)
        scores = np.full((len(vectors), k), -np.inf, dtype=np.float32)
        rows = np.full((len(vectors), k), -1, dtype=np.int64)
        ids = np.arange(len(self)) if allowed is None else np.flatnonzero(allowed)
        found = min(k, len(ids))
        for start in range(0, len(vectors), _BLOCK):
            block = vectors[start : start + _BLOCK] @ self._vectors[ids].T
            order = np.argsort(-block, axis=1, kind="stable")[:, :found]
            scores[start : start + _BLOCK, :found] = np.take_along_axis(block, order, axis=1)
            rows[start : start + _BLOCK, :found] = ids[order]
        return scores, rows

    def search_groups(
        self, vectors: Vectors, k: int, groups: Sequence[NDArray[np.bool_] | None]
    ) -> list[tuple[Scores, Rows]]:
        """What ``search`` finds in each group."""
        return [self.search(vectors, k, allowed) for allowed in groups]

    def vectors(self, start: int, stop: int) -> Vectors:
        """(stop - start, width), the vectors of these rows."""
        return self._vectors[start:stop]

    def to_disk(self, path: Path) -> None:
        """Write the vectors to a folder."""
        with atomic_path(Path(path) / _FILE) as part, part.open("wb") as file:
            np.save(file, self._vectors)

    def from_disk(self, path: Path) -> "BruteForce":
        """Read the vectors from a folder.

        Raises:
            PelError: if the file is missing or damaged.
        """
        try:
            self._vectors = np.load(Path(path) / _FILE, allow_pickle=False)
        except (OSError, ValueError, EOFError) as err:
            raise unreadable(Path(path), err, f"a complete {_FILE}") from err
        self.width = self._vectors.shape[1]
        return self
