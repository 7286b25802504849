"""The base class of anchor parts and their output."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class Anchors(NamedTuple):
    """The vectors that a loss compares with entities.

    Attributes:
        vectors: (a, width).
        groups: (a,) int64, the group that each represents; every group has at least one.
        loss: () loss of the part's own parameters, added to the loss of the batch.
        metrics: for the log; the same names in every batch.
    """

    vectors: Tensor
    groups: Tensor
    loss: Tensor
    metrics: dict[str, float]


class AnchorPart(nn.Module):
    """Turns the vectors of mentions into anchors. A group is the mentions of one entity in one document.

    ``forward(vectors (n, width), groups (n,), generator) -> Anchors``; groups are numbered from 0 without
    gaps, and all randomness comes from the generator.

    Args:
        learn_rate: peak learning rate of the part's own parameters, if it has any.
        schedule: whether this rate warms up and decays, or is constant.
        one_per_group: whether every group has exactly one anchor, whatever its size. Then ``batch_size``
            counts groups, since it counts the anchors of a step; otherwise it counts mentions.
    """

    learn_rate = 0.0
    schedule = True
    one_per_group = False

    def __init__(self) -> None:  # nn.Module's own signature would accept any setting
        super().__init__()

    def select(self, groups: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the mentions to encode.

        Args:
            groups: (n,) int64.

        Returns:
            (k,) int64 positions, ascending; every group keeps at least one.
        """
        return torch.arange(len(groups))

    def forward(self, vectors: Tensor, groups: Tensor, generator: torch.Generator) -> Anchors:
        raise NotImplementedError
