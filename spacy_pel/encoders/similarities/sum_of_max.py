"""SOM, the sum of maxima over tokens: a scorer of Cai et al. (2023), section 3.2."""

from typing import TYPE_CHECKING, Any

from ...registry import registry
from ...types import Vectors
from ...util.vectors import at_least_float32
from .similarity import IndexSide, Metric

if TYPE_CHECKING:
    from torch import Tensor

    from .token_vectors import TokenVectors


@registry.pel_similarities("spacy-pel.SumOfMax.v1")
class SumOfMax:
    """Each token of the mention is matched with the most similar token of the entity:

        f(m, e) = sum_t max_u v_m,t . v_e,u

    Padding is ignored on both sides. An index holds the pooled vectors (the encoder's ``pooling``) and finds
    candidates, and hard negatives, by their dot product; SOM then orders candidates by the tokens of the
    entities' cards (see ``rescore``). Two stages are a choice, the paper does not say how it searches:
    recall@k is at most that of the pooled vectors at the number found first (``first_stage``, 128 by
    default). In a component the second stage is a DualEncoder, as reranker, that reads the same model. Loss:
    BinaryCrossEntropy in the paper.
    """

    registered_name = "spacy-pel.SumOfMax.v1"
    unit_vectors = False
    token_level = True
    metric: Metric = "inner_product"

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def __call__(self, mentions: "TokenVectors", entities: "TokenVectors") -> "Tensor":
        """Tokens of n and of m texts -> (n, m), float32 or wider. All n m length length products are in
        memory at once: draw negatives with ``shared = true``."""
        left, right = at_least_float32(mentions.vectors), at_least_float32(entities.vectors)
        # (n length, m length): one product of matrices
        products = left.flatten(0, 1) @ right.flatten(0, 1).T
        products = products.view(*mentions.mask.shape, *entities.mask.shape)
        return _sum_of_max(products, mentions.mask[:, :, None], entities.mask)

    def paired(self, mentions: "TokenVectors", entities: "TokenVectors") -> "Tensor":
        """Tokens of n texts and of (n, k) texts of their own -> (n, k), float32 or wider."""
        left, right = at_least_float32(mentions.vectors), at_least_float32(entities.vectors)
        # (n, length, k length) -> (n, length, k, length)
        products = (left @ right.flatten(1, 2).transpose(1, 2)).unflatten(2, entities.mask.shape[1:])
        return _sum_of_max(products, mentions.mask[:, :, None], entities.mask[:, None])

    def index_width(self, width: int) -> int:
        return width

    def index_vectors(self, vectors: Vectors, side: IndexSide) -> Vectors:
        """The pooled vectors as they are."""
        return vectors


def _sum_of_max(products: "Tensor", own: "Tensor", theirs: "Tensor") -> "Tensor":
    """products: (n, length of mentions, m, length of entities). own: (n, length, 1), theirs: as the last two
    dimensions; True = a real token. RETURNS (Tensor): (n, m); a text without tokens has the score 0."""
    best = products.masked_fill(~theirs, -float("inf")).amax(dim=-1)
    return best.masked_fill(~(own & theirs.any(dim=-1)), 0.0).sum(dim=1)
