"""Cross-entropy over the positive and its negatives (Wiatrak et al. 2022, Eq. 1)."""

import torch
from torch import Tensor, nn

from ..registry import registry


@registry.pel_losses("spacy-pel.InBatchSoftmax.v1")
def make_in_batch_softmax(scale: float = 20.0) -> "InBatchSoftmax":
    """Build an InBatchSoftmax; the settings are the class's."""
    return InBatchSoftmax(scale=scale)


class InBatchSoftmax(nn.Module):
    """``-scale s+ + logsumexp(scale s+, scale s-_1, ...)``: a softmax in which the positive competes.

    With in-batch negatives this is the usual contrastive loss (InfoNCE, temperature 1/scale).
    It only ranks: the similarity itself has no zero, so it serves a NIL threshold badly.

    scale (float): multiplies the similarities; 20 suits cosine, 1 is Eq. 1 on dot products.
    """

    def __init__(self, *, scale: float = 20.0):
        super().__init__()
        self.scale = scale

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n mentions; arguments as for ProxySoftplus.

        RETURNS (Tensor): (n,), float32 or wider.
        """
        dtype = torch.promote_types(positives.dtype, torch.float32)
        own = self.scale * positives.to(dtype).unsqueeze(1)
        others = (self.scale * negatives.to(dtype)).masked_fill(~mask, -torch.inf)
        return torch.logsumexp(torch.cat([own, others], dim=1), dim=1) - own.squeeze(1)
