"""The hardest negatives of the batch without mixing, as an ablation."""

from torch import Tensor

from ...encoders.similarities import Encoded, take
from ...errors import Errors, PelError
from ...registry import registry
from .choose import hardest
from .mixing import StrongNegatives


@registry.pel_mixing("spacy-pel.HardestInBatch.v1")
class HardestInBatch:
    """Only the K negatives with the highest scores count (Cai et al. 2023, Eq. 8): AdaptiveMixup's selection
    without its mixing, as with alpha = 0. Not in the paper.

    Args:
        k: maximum number of negatives per mention.
    """

    def __init__(self, *, k: int = 1):
        if k < 1:
            raise PelError(Errors.E301.format(name="k", least=1, value=k))
        self.k = k

    def strong_negatives(self, entities: Encoded, scores: Tensor, mask: Tensor) -> StrongNegatives:
        """At most k per mention; see ``Mixing``."""
        places, real = hardest(scores, mask, self.k)
        return StrongNegatives(take(entities, places), real)
