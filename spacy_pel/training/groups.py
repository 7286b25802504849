"""Members by label, without Python lists: which mentions, which names has an entity?"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
