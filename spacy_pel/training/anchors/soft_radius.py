"""The mean of the mentions around one of them: soft-radius neighbours (Le & Nguyen 2023, Algorithm 1)."""

import torch
from torch import Tensor, nn

from ...errors import Errors, PelError
from ...registry import registry
from .anchor_part import AnchorPart, Anchors
from .group_math import draw_members, group_means


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
        for name, value in (("radius", radius), ("epsilon", epsilon), ("learn_rate", learn_rate)):
            if value is not None and value < 0:
                raise PelError(Errors.E346.format(name=name, value=value))
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
