"""Members by label, as two arrays: the mentions of an entity, the names of an entity."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..util.ragged import offsets_of


@dataclass
class MembersByLabel:
    """The members of label i are ``members[offsets[i]:offsets[i + 1]]``."""

    members: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def from_labels(cls, labels: NDArray[np.int64], n_labels: int) -> "MembersByLabel":
        """labels (NDArray): label of each member, 0 <= label < n_labels."""
        return cls(np.argsort(labels, kind="stable"), offsets_of(np.bincount(labels, minlength=n_labels)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, label: int) -> NDArray[np.int64]:
        return self.members[self.offsets[label] : self.offsets[label + 1]]

    def draw(self, labels: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw one member of each label, uniformly.

        labels (NDArray): (n,).
        RETURNS (NDArray): (n,), -1 where a label has no members.
        """
        first, size = self.offsets[labels], np.diff(self.offsets)[labels]
        picked = first + (rng.random(len(labels)) * size).astype(np.int64)
        if not len(self.members):
            return np.full(len(labels), -1)
        return np.where(size > 0, self.members[np.minimum(picked, len(self.members) - 1)], -1)
