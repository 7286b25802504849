"""The multi-similarity loss (Liu et al. 2021, SapBERT, Eq. 2)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ...registry import registry
from ...util.arrays import at_least_float32
from ...util.config import check_range
from .balanced_loss import LARGEST_OFFSET, LARGEST_SCALE


@registry.pel_losses("spacy-pel.MultiSimilarity.v1")
class MultiSimilarity(nn.Module):
    """Positives are pulled above a base similarity, negatives are pushed below it, hard ones more:

        L = 1/alpha log(1 + exp(-alpha (s+ - base))) + 1/beta log(1 + sum_{e-} exp(beta (s- - base)))

    which is Eq. 2 of Liu et al. (SapBERT) with one positive for each anchor. Before that, pairs are mined
    (their Eq. 1): only negatives that come within the margin of the positive count, and an anchor that has
    none has no loss.

    Similarity: cosine (the papers' choice).

    Args:
        alpha: scale of the positive; 1 in SapBERT's code.
        beta: scale of the negatives; 60 there.
        base: lambda; 0.5 there.
        margin: 0.2 in SapBERT; None = all negatives count.

    Raises:
        PelError: if a scale is not positive, or the margin is negative.
    """

    def __init__(self, *, alpha: float = 1.0, beta: float = 60.0, base: float = 0.5, margin: float | None = 0.2):
        super().__init__()
        for name, value in (("alpha", alpha), ("beta", beta)):
            check_range(name, value, above=0, most=LARGEST_SCALE)
        check_range("base", base, least=-LARGEST_OFFSET, most=LARGEST_OFFSET)
        check_range("margin", margin, least=0, most=LARGEST_OFFSET)
        self.alpha = alpha
        self.beta = beta
        self.base = base
        self.margin = margin

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n anchors; arguments as for ProxySoftplus. Without a negative that counts the loss is 0.

        Returns:
            (n,), float32 or wider.
        """
        positives, negatives = at_least_float32(positives), at_least_float32(negatives)
        if self.margin is not None:
            mask = mask & (negatives > positives.unsqueeze(1) - self.margin)
        pull = softplus(-self.alpha * (positives - self.base)) / self.alpha
        pushed = (self.beta * (negatives - self.base)).masked_fill(~mask, -torch.inf)
        zero = torch.zeros_like(positives).unsqueeze(1)
        push = torch.logsumexp(torch.cat([zero, pushed], dim=1), dim=1) / self.beta
        return torch.where(mask.any(dim=1), pull + push, 0.0)
