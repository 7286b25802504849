"""The mean of all mentions: the prototype triplet loss (Le & Nguyen 2023, Eq. 3)."""

import torch
from torch import Tensor

from ...registry import registry
from .anchor_part import AnchorPart, Anchors
from .group_math import group_means


@registry.pel_anchors("spacy-pel.MeanPrototype.v1")
class MeanPrototype(AnchorPart):
    """The prototype 1/N sum_i f(m_i) of an entity's N mentions in a document. Each entity counts once, and
    all of its mentions move together. The hardest negative is the one nearest to the prototype (a choice, see
    ``Triplet``)."""

    one_per_group = True

    def forward(self, vectors: Tensor, groups: Tensor, generator: torch.Generator) -> Anchors:
        """One per group, in the order of the groups."""
        means = group_means(vectors, groups, vectors.new_ones(len(vectors)))
        return Anchors(means, torch.arange(len(means), device=groups.device), vectors.new_zeros(()), {})
