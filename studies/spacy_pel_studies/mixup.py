"""Adaptive mixup (Cai et al. 2023), which makes the negatives of a mention from those in the batch; its loss, and SOM,
a similarity of tokens."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import softplus

from spacy_pel.encoders.similarities import Encoded, Similarity, TokenVectors, take
from spacy_pel.registry import registry
from spacy_pel.training.losses.proxy_softplus import LARGEST_SCALE, BalancedLoss
from spacy_pel.training.negatives import StrongNegatives
from spacy_pel.util.arrays import at_least_float32
from spacy_pel.util.config import MANY, check_range


@registry.pel_mixing("spacy-pel.AdaptiveMixup.v1")
@dataclass(kw_only=True, eq=False)
class AdaptiveMixup:
    """The K hardest negatives of a mention (Eq. 8), each mixed with some of the positive:

        W = exp f(m,e+) / (exp f(m,e+) + sum_{i<=K} exp f(m,e-_i))                    (Eq. 9)
        V_strong,i = alpha W V_e+ + V_e-_i                                           (Eq. 10)

    W has no gradient: a choice, the paper does not say. It reads the similarities as they are, whatever the
    scale of the loss, and rises as training separates the positives, which makes the negatives harder. The
    paper mixes token vectors, and does not say what happens to texts of different lengths. Our reading: the
    u-th token is mixed with the u-th, the shorter text is padded with zeros, and tokens that are real in
    either one count. Where the similarity reads pooled vectors these are mixed directly, which is the same
    for [CLS], and for means of texts of one length.

    Negatives: those of the batch in the paper (InBatchNegatives); any sampler works.
    Loss: BinaryCrossEntropy. Similarities: DotProduct on [CLS] or means (K = 1 in the paper), SumOfMax
    (K = 10).

    Args:
        alpha: weight of the positive; 0.3 in the paper.
        k: maximum number of negatives per mention.
    """

    alpha: float = 0.3
    k: int = 1

    def __post_init__(self) -> None:
        check_range("k", self.k, least=1, most=MANY)
        check_range("alpha", self.alpha, least=0, most=100)

    def strong_negatives(self, entities: Encoded, scores: Tensor, mask: Tensor) -> StrongNegatives:
        """At most k per mention; see ``Mixing``."""
        scores = scores.detach()
        places = scores.masked_fill(~mask, -torch.inf).topk(min(self.k, scores.shape[1]), dim=1).indices
        real = mask.gather(1, places)
        competing = scores.gather(1, places).masked_fill(~real, -torch.inf)
        # softmax subtracts the maximum first: no overflow; 1 for a mention without negatives
        weights = torch.softmax(torch.cat([scores.diagonal().unsqueeze(1), competing], dim=1), dim=1)[:, 0]
        diagonal = torch.arange(len(scores), device=scores.device).unsqueeze(1)
        mixed = _mix(self.alpha * weights, take(entities, diagonal), take(entities, places))
        return StrongNegatives(mixed, real, weights)


def _mix(shares: Tensor, positives: Encoded, negatives: Encoded) -> Encoded:
    """shares: (n,). positives: (n, 1, ...). negatives: (n, k, ...). RETURNS (Encoded): (n, k, ...)."""
    if not isinstance(positives, TokenVectors) or not isinstance(negatives, TokenVectors):
        pooled: Any = (positives, negatives)
        return shares[:, None, None] * pooled[0] + pooled[1]  # type: ignore[no-any-return]
    # the transformer's output at padding is arbitrary
    own, other = (side.vectors.masked_fill(~side.mask.unsqueeze(-1), 0.0) for side in (positives, negatives))
    return TokenVectors(shares[:, None, None, None] * own + other, positives.mask | negatives.mask)


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


@registry.pel_similarities("spacy-pel.SumOfMax.v1")
class SumOfMax(Similarity):
    """Each token of the mention is matched with the most similar token of the entity:

        f(m, e) = sum_t max_u v_m,t . v_e,u

    Padding is ignored on both sides. An index holds the pooled vectors (the encoder's ``pooling``) and finds
    candidates, and hard negatives, by their dot product; SOM then orders candidates by the tokens of the
    entities' cards. Two stages are a choice, the paper does not say how it searches:
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
