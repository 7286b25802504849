"""Members by label, without Python lists: which mentions, which names has an entity?"""

from dataclasses import dataclass
from typing import Sequence

import numpy as np
from numpy.typing import NDArray

from ...util.ragged import offsets_of


@dataclass
class Groups:
    """The members of label i are ``members[offsets[i]:offsets[i + 1]]``."""

    members: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def from_labels(cls, labels: NDArray[np.int64], n_labels: int) -> "Groups":
        """labels (NDArray): label of each member, 0 <= label < n_labels."""
        offsets = np.zeros(n_labels + 1, dtype=np.int64)
        np.cumsum(np.bincount(labels, minlength=n_labels), out=offsets[1:])
        return cls(np.argsort(labels, kind="stable"), offsets)

    @classmethod
    def from_lists(cls, lists: Sequence[NDArray[np.int64]]) -> "Groups":
        """lists (Sequence[NDArray]): the members of each group."""
        offsets = offsets_of(np.array([len(members) for members in lists], dtype=np.int64))
        return cls(np.concatenate([np.zeros(0, dtype=np.int64), *lists]), offsets)

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
        return (
            np.where(size > 0, self.members[np.minimum(picked, len(self.members) - 1)], -1)
            if len(self.members)
            else np.full(len(labels), -1)
        )
