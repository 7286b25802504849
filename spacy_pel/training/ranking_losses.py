"""Losses ``loss(positives (n,), negatives (n, m), mask (n, m)) -> (n,)`` of similarities, in which the positive
competes with its negatives."""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu, softplus

from ..registry import registry
from ..util.arrays import at_least_float32
from ..util.config import check_range
from .balanced_losses import LARGEST_OFFSET, LARGEST_SCALE


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


@registry.pel_losses("spacy-pel.Triplet.v1")
class Triplet(nn.Module):
    """The positive should be nearer than the nearest negative, by a margin:

        L = [ |m - e+|^2 - |m - e-|^2 + margin ]+   of a mention m (squared)            (Eq. 2)
        L = [ |a - e+| - |a - e-| + margin ]+       of a prototype a (not squared)      (Eq. 3)

    Prototypes and mentions are anchors (see "pel_anchors"). Only the hardest negative of the anchor under
    the current model counts (section 3.2.2): a trainer may find it without gradients and leave the others
    out. A choice: the paper takes the candidate nearest to a mention, and does not say which mention that is
    where the anchor is a prototype of several; here it is the candidate nearest to the prototype.

    Similarity: Euclidean (the paper's choice); with the cosine a margin of about 0.2. Other similarities s
    are used as they are, or squared with their sign, s |s|.

    Args:
        margin: 1.2 (MedMentions) and 1.6 (BC5CDR) in the paper.
        squared: compare squared distances: True for the paper's plain and down-sampled triplet losses
            (AllMentions, OneMention), False for its prototypes.
    """

    hardest_only = True

    def __init__(self, *, margin: float = 1.2, squared: bool = False):
        super().__init__()
        check_range("margin", margin, least=0, most=LARGEST_OFFSET)
        self.margin = margin
        self.squared = squared

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n mentions; arguments as for ProxySoftplus. Without a negative the loss is 0.

        Returns:
            (n,), float32 or wider.
        """
        positives = at_least_float32(positives)
        pushed = at_least_float32(negatives).masked_fill(~mask, -torch.inf)
        none = pushed.new_full((len(pushed), 1), -torch.inf)
        hardest = torch.cat([pushed, none], dim=1).amax(dim=1)
        if self.squared:
            # infinity times the slope of the ReLU, 0, would be NaN
            finite = torch.where(mask.any(dim=1), hardest, 0.0)
            hardest = torch.where(mask.any(dim=1), finite * finite.abs(), -torch.inf)
            positives = positives * positives.abs()
        return relu(self.margin - positives + hardest)
