"""Rows by label, as two arrays: the mentions of an entity, the names of an entity."""

import numpy as np
from numpy.typing import NDArray

from ..util.arrays import Ragged, offsets_of


class LabelIndex(Ragged):
    """The rows with label i are ``values[offsets[i]:offsets[i + 1]]``."""

    @classmethod
    def from_labels(cls, labels: NDArray[np.int64], n_labels: int) -> "LabelIndex":
        """Args:
        labels: label of each row, 0 <= label < n_labels.
        """
        return cls(np.argsort(labels, kind="stable"), offsets_of(np.bincount(labels, minlength=n_labels)))

    def draw(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one row of each label, uniformly.

        Args:
            labels: (n,).

        Returns:
            (n,), -1 where no row has the label.
        """
        first, size = self.offsets[labels], self.lengths[labels]
        drawn = first + (rng.random(len(labels)) * size).astype(np.int64)
        if not len(self.values):
            return np.full(len(labels), -1)
        return np.where(size > 0, self.values[np.minimum(drawn, len(self.values) - 1)], -1)

    def draw_other(
        self, labels: NDArray[np.int64], rows: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw another row with the same label, uniformly.

        Args:
            labels: (n,), of two rows or more each.
            rows: (n,), each with its label.

        Returns:
            (n,).
        """
        drawn = self.offsets[labels] + (rng.random(len(labels)) * (self.lengths[labels] - 1)).astype(np.int64)
        return self.values[drawn + (self.values[drawn] >= rows)]  # rows of a label ascend
