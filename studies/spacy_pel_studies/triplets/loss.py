"""The triplet loss, of mentions and of prototypes (Le & Nguyen 2023, Eq. 2 and 3)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from spacy_pel.registry import registry
from spacy_pel.training.losses.proxy_softplus import LARGEST_OFFSET
from spacy_pel.util.arrays import at_least_float32
from spacy_pel.util.config import check_range


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
