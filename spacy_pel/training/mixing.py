"""Mixing: makes or selects the negatives of a mention from those in the batch (Cai et al. 2023)."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from torch import Tensor

from ..encoders.similarities import Encoded, TokenVectors, take
from ..registry import registry
from ..util.config import MANY, check_range


class StrongNegatives(NamedTuple):
    """Negatives of each mention.

    entities: (n, k, d), or ``TokenVectors`` of (n, k, length, d).
    mask: (n, k) bool, False = a mention has fewer.
    weights: (n,) W of each mention.
    """

    entities: Encoded
    mask: Tensor
    weights: Tensor


@runtime_checkable
class Mixing(Protocol):
    """Makes the negatives of the loss from those of the batch."""

    def strong_negatives(self, entities: Encoded, scores: Tensor, mask: Tensor) -> StrongNegatives:
        """Args:
            entities: m of them, the positive of mention i at position i.
            scores: (n, m), of all mentions and entities, detached.
            mask: (n, m) bool, True = entity j is a negative of mention i.

        Returns:
            Attached to the graph of the entities.
        """
        ...


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
