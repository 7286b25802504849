"""Every mention for itself: the triplet loss with all samples (Le & Nguyen 2023, Eq. 2)."""

import torch
from torch import Tensor

from ...registry import registry
from .anchor_part import AnchorPart, Anchors


@registry.pel_anchors("spacy-pel.AllMentions.v1")
def make_all_mentions() -> "AllMentions":
    """Build an AllMentions."""
    return AllMentions()


class AllMentions(AnchorPart):
    """Each mention is an anchor: an entity that a document names often counts often."""

    def forward(self, vectors: Tensor, groups: Tensor, generator: torch.Generator) -> Anchors:
        """RETURNS (Anchors): the vectors as they came."""
        return Anchors(vectors, groups, vectors.new_zeros(()), {})
