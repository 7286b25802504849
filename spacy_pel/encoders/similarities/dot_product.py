"""The dot product: the similarity of the cross-entropy (Wiatrak et al. 2022, Eq. 1)."""

from torch import Tensor

from ...registry import registry
from ...util.arrays import at_least_float32
from .similarity import Similarity


@registry.pel_similarities("spacy-pel.DotProduct.v1")
class DotProduct(Similarity):
    """The inner product of vectors of any length: long vectors score high against everything.

    Scores have no fixed range, so temperatures and bonuses that were chosen for cosines do not
    carry over. Loss: CrossEntropy(scale=1) in the paper. On vectors of [CLS] this is DUAL, on means
    Pooling Mean of Cai et al. (2023); their loss is BinaryCrossEntropy.
    """

    registered_name = "spacy-pel.DotProduct.v1"

    def __call__(self, mentions: Tensor, entities: Tensor) -> Tensor:
        """(n, d) and (m, d) -> (n, m), float32 or wider."""
        return at_least_float32(mentions) @ at_least_float32(entities).T

    def paired(self, mentions: Tensor, entities: Tensor) -> Tensor:
        """(n, d) and (n, k, d) -> (n, k), float32 or wider."""
        return (at_least_float32(mentions).unsqueeze(1) * at_least_float32(entities)).sum(dim=-1)
