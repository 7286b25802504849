"""What an anchor part is, and what it gives."""

from typing import Dict, NamedTuple

import torch
from torch import Tensor, nn


class Anchors(NamedTuple):
    """What a loss compares with entities.

    vectors (Tensor): (a, width).
    groups (Tensor): (a,) int64, the group that each stands for; every group has one at least.
    loss (Tensor): (), of the part's own parameters; added to the loss of the batch.
    figures (Dict[str, float]): for the log; the same names in every batch.
    """

    vectors: Tensor
    groups: Tensor
    loss: Tensor
    figures: Dict[str, float]


class AnchorPart(nn.Module):
    """Turns the vectors of mentions into anchors. A group is the mentions of one entity in one document.

    ``forward(vectors (n, width), groups (n,), generator) -> Anchors``; groups are numbered from 0 without
    a gap, and all draws come from the generator.

    learn_rate (float): peak learning rate of the part's own parameters, if it has any.
    """

    learn_rate = 0.0

    def select(self, groups: Tensor, generator: torch.Generator) -> Tensor:
        """Choose the mentions that have to be encoded at all, before there are vectors.

        groups (Tensor): (n,) int64.
        RETURNS (Tensor): (k,) int64 places, ascending; every group keeps one at least.
        """
        return torch.arange(len(groups))

    def forward(self, vectors: Tensor, groups: Tensor, generator: torch.Generator) -> Anchors:
        raise NotImplementedError
