"""The triplet loss with the hardest negative (Le & Nguyen 2023, Eq. 2 and 3)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from ...errors import Errors, PelError
from ...registry import registry


@registry.pel_losses("spacy-pel.Triplet.v1")
class Triplet(nn.Module):
    """The positive should be nearer than the nearest negative, by a margin:

        L = [ margin - s(a,e+) + max_j s(a,e-_j) ]+   with s = -|a - e|

    Eq. 2 where the anchor a is a mention, Eq. 3 where it is a prototype (see "pel_anchors").
    Only the hardest negative under the current model counts: a trainer may find it without gradients
    and leave the others out.

    Similarity: Euclidean (the paper's choice); with the cosine a margin of about 0.2.
    margin (float): 1.2 (MedMentions) and 1.6 (BC5CDR) in the paper.
    """

    hardest_only = True

    def __init__(self, *, margin: float = 1.2):
        super().__init__()
        if margin < 0:
            raise PelError(Errors.E346.format(name="margin", value=margin))
        self.margin = margin

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n mentions; arguments as for ProxySoftplus. Without a negative the loss is 0.

        RETURNS (Tensor): (n,), float32 or wider.
        """
        dtype = torch.promote_types(positives.dtype, torch.float32)
        pushed = negatives.to(dtype).masked_fill(~mask, -torch.inf)
        none = pushed.new_full((len(pushed), 1), -torch.inf)
        hardest = torch.cat([pushed, none], dim=1).amax(dim=1)
        return relu(self.margin - positives.to(dtype) + hardest)
