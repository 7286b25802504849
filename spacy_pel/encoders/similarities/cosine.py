"""The cosine: the similarity of the proxy-based loss (Wiatrak et al. 2022, section 5.2)."""

from torch import Tensor
from torch.nn.functional import normalize

from ...registry import registry
from ...types import Vectors
from ...util.arrays import at_least_float32, unit_length
from .similarity import IndexSide, Similarity


@registry.pel_similarities("spacy-pel.Cosine.v1")
class Cosine(Similarity):
    """The inner product of vectors of length 1, between -1 and 1.

    Its zero means "unrelated" for every mention, which a threshold between mentions needs.
    Loss: ProxySoftplus in the paper; CrossEntropy with a scale of about 20.
    """

    registered_name = "spacy-pel.Cosine.v1"

    def __call__(self, mentions: Tensor, entities: Tensor) -> Tensor:
        """(n, d) and (m, d) -> (n, m), float32 or wider."""
        return normalize(at_least_float32(mentions), dim=-1) @ normalize(at_least_float32(entities), dim=-1).T

    def paired(self, mentions: Tensor, entities: Tensor) -> Tensor:
        """(n, d) and (n, k, d) -> (n, k), float32 or wider."""
        ours = normalize(at_least_float32(mentions), dim=-1).unsqueeze(1)
        return (ours * normalize(at_least_float32(entities), dim=-1)).sum(dim=-1)

    def index_vectors(self, vectors: Vectors, side: IndexSide) -> Vectors:
        """Scaled to length 1."""
        return unit_length(vectors)
