"""One mention per group: the triplet loss with down-sampling (Le & Nguyen 2023, section 4.3.2)."""

import torch
from torch import Tensor

from ...registry import registry
from .anchor_part import AnchorPart, Anchors
from .group_math import draw_members


@registry.pel_anchors("spacy-pel.OneMention.v1")
class OneMention(AnchorPart):
    """One random mention of each entity and document, redrawn for each batch (a choice); the others
    are not encoded."""

    one_per_group = True

    def select(self, groups: Tensor, generator: torch.Generator) -> Tensor:
        """(g,) int64 positions, ascending."""
        return draw_members(groups, generator).sort().values

    def forward(self, vectors: Tensor, groups: Tensor, generator: torch.Generator) -> Anchors:
        """One per group; draws again where a group has several."""
        chosen = self.select(groups, generator)
        return Anchors(vectors[chosen], groups[chosen], vectors.new_zeros(()), {})
