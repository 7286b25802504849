"""The hardest negatives of the batch as they are: what mixing is compared with."""

from torch import Tensor

from ...errors import Errors, PelError
from ...registry import registry
from ...similarities import Encoded, take
from .choose import hardest
from .mixing import StrongNegatives


@registry.pel_mixing("spacy-pel.HardestInBatch.v1")
def make_hardest_in_batch(k: int = 1) -> "HardestInBatch":
    """Build a HardestInBatch; the settings are the class's."""
    return HardestInBatch(k=k)


class HardestInBatch:
    """Only the K negatives with the highest scores count: choosing without mixing, an ablation of
    AdaptiveMixup.

    k (int): how many for each mention; where there are fewer, those.
    """

    def __init__(self, *, k: int = 1):
        if k < 1:
            raise PelError(Errors.E301.format(name="k", least=1, value=k))
        self.k = k

    def strong_negatives(self, entities: Encoded, scores: Tensor, mask: Tensor) -> StrongNegatives:
        """RETURNS (StrongNegatives): at most k for each mention; see ``Mixing``."""
        places, real = hardest(scores, mask, self.k)
        return StrongNegatives(take(entities, places), real)
