"""Anchors: the vectors that represent the mentions of one entity in one document in the loss (Le & Nguyen 2023)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from spacy_pel.registry import registry
from spacy_pel.util.arrays import at_least_float32
from spacy_pel.util.config import check_range


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


@registry.pel_anchors("spacy-pel.AllMentions.v1")
class AllMentions(AnchorPart):
    """Each mention is an anchor, so entities that a document names often count often."""

    def forward(self, vectors: Tensor, groups: Tensor, generator: torch.Generator) -> Anchors:
        """The vectors unchanged."""
        return Anchors(vectors, groups, vectors.new_zeros(()), {})


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


@registry.pel_anchors("spacy-pel.SoftRadius.v1")
class SoftRadius(AnchorPart):
    """Prototypes of latent clusters. In each group a mention is drawn; its cluster is every mention of the
    group within the radius lambda + epsilon of it, and the prototype is the cluster's mean. With r the
    largest distance in the cluster, (lambda - r)^2 pulls the learnable lambda towards the actual radius
    of the clusters. That it moves lambda alone, and no vector, and is averaged over the groups of a batch is
    our reading. As in Algorithm 1, a single mention is a cluster with r = 0.

    Use it with unnormalised vectors and the Euclidean distance as similarity.

    Args:
        radius: initial lambda, 11 in the paper, where distances of SapBERT are large. None =
            the mean distance within the groups of the first batch that has a group of two; until then each
            cluster is the whole group.
        epsilon: added to lambda, 1 in the paper; use less where distances are smaller.
        learn_rate: of lambda; 0.005 (MedMentions) and 0.01 (BC5CDR) in the paper.
        schedule: True = this rate warms up and decays as that of the towers; False = it is constant,
            as in the paper.
    """

    one_per_group = True
    started: Tensor

    def __init__(
        self, *, radius: float | None = 11.0, epsilon: float = 1.0, learn_rate: float = 0.005, schedule: bool = True
    ):
        super().__init__()
        for name, value in (("radius", radius), ("epsilon", epsilon)):
            check_range(name, value, least=0, most=1000)
        check_range("learn_rate", learn_rate, least=0, most=1)
        self.start = radius
        self.epsilon = epsilon
        self.learn_rate = learn_rate
        self.schedule = schedule
        self.radius = nn.Parameter(torch.tensor(0.0 if radius is None else float(radius)))
        # a buffer, so that checkpoints record whether lambda is initialised
        self.register_buffer("started", torch.tensor(radius is not None))

    def forward(self, vectors: Tensor, groups: Tensor, generator: torch.Generator) -> Anchors:
        """One per group; metrics "radius" (lambda), "radius_loss" and "cluster_size"
        (mean)."""
        with torch.no_grad():
            if not self.started:
                self._start(vectors, groups)
            centers = vectors[draw_members(groups, generator)]
            distances = (vectors - centers[groups]).norm(dim=1)
            reach = self.radius.clamp(min=0.0) + self.epsilon  # the centre is always in its cluster
            inside = (distances <= reach) | ~self.started
            radii = distances.new_zeros(len(centers))
            radii = radii.scatter_reduce(0, groups, distances * inside, reduce="amax")
        prototypes = group_means(vectors, groups, inside.to(vectors.dtype))
        loss = (self.radius - radii).square().mean() if self.started else 0.0 * self.radius
        metrics = {
            "radius": float(self.radius.detach()),
            "radius_loss": float(loss.detach()),
            "cluster_size": float(inside.sum() / len(centers)),
        }
        return Anchors(prototypes, torch.arange(len(centers), device=groups.device), loss, metrics)

    def _start(self, vectors: Tensor, groups: Tensor) -> None:
        same = groups.unsqueeze(0) == groups.unsqueeze(1)
        same.fill_diagonal_(False)
        if same.any():
            distances = torch.cdist(vectors, vectors, compute_mode="donot_use_mm_for_euclid_dist")
            self.radius.fill_(distances[same].mean())
            self.started.fill_(True)


def group_means(vectors: Tensor, groups: Tensor, weights: Tensor) -> Tensor:
    """Weighted means of the members of each group, summed in float32: bfloat16 cannot count beyond 256.

    Args:
        vectors: (n, width).
        groups: (n,) int64, 0 … g - 1, none empty.
        weights: (n,); their sum over a group is not 0.

    Returns:
        (g, width), of the type of the vectors.
    """
    n_groups = int(groups.max()) + 1
    wide, weights = at_least_float32(vectors), at_least_float32(weights)
    sums = wide.new_zeros(n_groups, vectors.shape[1])
    sums = sums.index_add(0, groups, wide * weights.unsqueeze(1))
    totals = wide.new_zeros(n_groups).index_add(0, groups, weights)
    return (sums / totals.unsqueeze(1)).to(vectors.dtype)


def draw_members(groups: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one member of each group, uniformly.

    Args:
        groups: (n,) int64, 0 … g - 1, none empty.
        generator: of the CPU.

    Returns:
        (g,) int64, position in ``groups`` for each group.
    """
    order = torch.randperm(len(groups), generator=generator).to(groups.device)
    # sorted by group, in random order within a group
    order = order[torch.argsort(groups[order], stable=True)]
    sizes = torch.bincount(groups)
    return order[sizes.cumsum(0) - sizes]
