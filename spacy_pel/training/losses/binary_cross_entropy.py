"""Binary cross-entropy of each pair (Cai et al. 2023, Eq. 11)."""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from ...registry import registry
from ...util.arrays import at_least_float32
from ...util.config import check_range
from .balanced_loss import LARGEST_SCALE, BalancedLoss


@registry.pel_losses("spacy-pel.BinaryCrossEntropy.v1")
class BinaryCrossEntropy(BalancedLoss):
    """Each similarity is the logit of "these two belong together", independently of the others:

        L(m, P) = -log sigma(s(m,e+)) - sum_{e-} log(1 - sigma(s(m,e-)))            (Eq. 11)

    In the paper the loss of AMH alone; its other negatives have CrossEntropy over the batch (Eq. 7).

    Every negative that scores above 0 contributes about the same gradient, however many there are; with
    few but hard ones, as from AdaptiveMixup, positive and negatives are balanced.

    Similarity: the dot product or SumOfMax (the paper's choices).

    Args:
        scale: multiplies the similarities; 1 in the paper.
        offset: the similarity b at which logits have their zero, 0 in the paper:
            scale (s - b) replaces s. Dot products of pretrained encoders lie far above 0 for unrelated texts too.
            None = solve for the b at which the first batch pulls as hard as it pushes,
            mean sigma(-scale (s+ - b)) = mean sum_j sigma(scale (s-_j - b)). See ``BalancedLoss``; an addition to the
            paper.
    """

    def __init__(self, *, scale: float = 1.0, offset: float | None = 0.0):
        super().__init__(offset)
        check_range("scale", scale, above=0, most=LARGEST_SCALE)
        self.scale = scale

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n mentions; arguments as for ProxySoftplus.

        Returns:
            (n,), float32 or wider.
        """
        # -log sigma(x) = softplus(-x) and -log(1 - sigma(x)) = softplus(x): nothing overflows
        positives, negatives = at_least_float32(positives), at_least_float32(negatives)
        if self._needs_start:
            self._start(positives, negatives.masked_fill(~mask, -torch.inf), self.scale)
        pull = softplus(-self.scale * (positives - self.offset))
        pushed = self.scale * (negatives - self.offset)
        return pull + softplus(pushed.masked_fill(~mask, -torch.inf)).sum(dim=1)
