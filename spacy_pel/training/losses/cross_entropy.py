"""Cross-entropy over a mention's entities (Wiatrak et al. 2022, Eq. 1)."""

import torch
from torch import Tensor, nn

from ...registry import registry
from ...util.arrays import at_least_float32
from ...util.config import check_range
from .proxy_softplus import LARGEST_SCALE


@registry.pel_losses("spacy-pel.CrossEntropy.v1")
class CrossEntropy(nn.Module):
    """A softmax in which the positive competes with its negatives:

        L(m, P) = -s(m,e+) + log sum_{e in P} exp(s(m,e))                            (Eq. 1)

    It only ranks; adding a constant to all similarities of a mention changes nothing, so they have no common
    zero and do not suit a NIL threshold. With in-batch negatives this is Eq. 7 of Cai et al. (2023), or
    InfoNCE with temperature 1 / scale. Our reading: where two mentions of a batch have the same entity, it
    is a negative of neither.

    Similarity: the dot product (the paper's choice), or the cosine with a scale of about 20.

    Args:
        scale: multiplies the similarities; 1 = Eq. 1.
    """

    def __init__(self, *, scale: float = 1.0):
        super().__init__()
        check_range("scale", scale, above=0, most=LARGEST_SCALE)
        self.scale = scale

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n mentions; arguments as for ProxySoftplus.

        Returns:
            (n,), float32 or wider.
        """
        positive = self.scale * at_least_float32(positives).unsqueeze(1)
        others = (self.scale * at_least_float32(negatives)).masked_fill(~mask, -torch.inf)
        return torch.logsumexp(torch.cat([positive, others], dim=1), dim=1) - positive.squeeze(1)
