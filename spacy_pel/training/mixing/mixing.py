"""The interface of mixing."""

from typing import NamedTuple, Protocol, runtime_checkable

from torch import Tensor

from ...encoders.similarities import Encoded


class StrongNegatives(NamedTuple):
    """Negatives of each mention.

    entities: (n, k, d), or ``TokenVectors`` of (n, k, length, d).
    mask: (n, k) bool, False = a mention has fewer.
    weights: (n,) W of each mention, or None if nothing is mixed.
    """

    entities: Encoded
    mask: Tensor
    weights: Tensor | None = None


@runtime_checkable
class Mixing(Protocol):
    """Makes the negatives of the loss from those of the batch."""

    def strong_negatives(self, entities: Encoded, scores: Tensor, mask: Tensor) -> StrongNegatives:
        """Args:
            entities: m of them, the positive of mention i at position i.
            scores: (n, m), of all mentions and entities, detached.
            mask: (n, m) bool, True = entity j is a negative of mention i.

        Returns:
            Attached to the graph of the entities.
        """
        ...
