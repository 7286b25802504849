"""Distillation: a larger model's distribution over the entities as a second target (Hinton et al. 2015)."""

import torch
from torch import Tensor, nn


class Distillation(nn.Module):
    """How far a mention's softmax over its positive and negatives is from a teacher's:

        L(m, P) = sum_{e in P} q(e) (log q(e) - log p(e)),  p = softmax(scale * s),  q = softmax(scale * t)

    with the similarities s of the model in training and t of the teacher. The gold entity only says that
    every other one is wrong; the teacher says which of them are nearly right. The divergence is that of
    Hinton et al. (2015, section 2) with temperature 1 / scale, without their factor T^2.

    Args:
        weight: multiplies it, beside the loss.
        scale: multiplies the similarities of both.
    """

    def __init__(self, *, weight: float = 1.0, scale: float = 20.0):
        super().__init__()
        self.weight = weight
        self.scale = scale

    def forward(self, scores: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
        """Divergences of n mentions.

        Args:
            scores, targets: (n, m) similarities; column i < n is the positive of mention i.
            mask: (n, m) bool, True = a negative of the mention.

        Returns:
            (n,), float32 or wider, not weighted.
        """
        dtype = torch.promote_types(scores.dtype, torch.float32)
        kept = mask.clone()
        kept.diagonal().fill_(True)
        own, target = (
            torch.log_softmax((self.scale * one.to(dtype)).masked_fill(~kept, -torch.inf), dim=1)
            for one in (scores, targets)
        )
        difference = (target - own).masked_fill(~kept, 0.0)  # -inf less -inf where neither looks
        return (target.exp() * difference).sum(dim=1)
