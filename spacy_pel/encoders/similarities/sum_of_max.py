"""SOM, the sum of maxima over tokens: a scorer of Cai et al. (2023), section 3.2."""

from torch import Tensor

from ...registry import registry
from ...util.arrays import at_least_float32
from .similarity import Similarity, TokenVectors


@registry.pel_similarities("spacy-pel.SumOfMax.v1")
class SumOfMax(Similarity):
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
    token_level = True

    def __call__(self, mentions: TokenVectors, entities: TokenVectors) -> Tensor:
        """Tokens of n and of m texts -> (n, m), float32 or wider. All n m length length products are in
        memory at once: draw negatives with ``shared = true``."""
        left, right = at_least_float32(mentions.vectors), at_least_float32(entities.vectors)
        # (n length, m length): one product of matrices
        products = left.flatten(0, 1) @ right.flatten(0, 1).T
        products = products.view(*mentions.mask.shape, *entities.mask.shape)
        return _sum_of_max(products, mentions.mask[:, :, None], entities.mask)

    def paired(self, mentions: TokenVectors, entities: TokenVectors) -> Tensor:
        """Tokens of n texts and of (n, k) texts of their own -> (n, k), float32 or wider."""
        left, right = at_least_float32(mentions.vectors), at_least_float32(entities.vectors)
        # (n, length, k length) -> (n, length, k, length)
        products = (left @ right.flatten(1, 2).transpose(1, 2)).unflatten(2, entities.mask.shape[1:])
        return _sum_of_max(products, mentions.mask[:, :, None], entities.mask[:, None])


def _sum_of_max(products: Tensor, mentions: Tensor, entities: Tensor) -> Tensor:
    """Reduce (n, length of mentions, m, length of entities) to (n, m); a text without tokens has the score 0.

    The masks are (n, length, 1), and as the last two dimensions; True = a real token.
    """
    best = products.masked_fill(~entities, -float("inf")).amax(dim=-1)
    return best.masked_fill(~(mentions & entities.any(dim=-1)), 0.0).sum(dim=1)
