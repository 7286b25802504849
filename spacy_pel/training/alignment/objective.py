"""The objective of an alignment: both names of a pair are anchors."""

from torch import Tensor

from ..retriever.objective import Objective


class BothWays(Objective):
    """The mean of the losses from first to second names, and from second to first."""

    def _loss(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        there = super()._loss(positives, negatives, mask)
        return (there + super()._loss(positives, negatives.T, mask.T)) / 2
