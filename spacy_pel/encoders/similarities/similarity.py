"""The interface of similarities, and vectors of tokens, for those that compare texts token by token."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ...types import Vectors
from ...util.config import PartSettings

Metric = Literal["inner_product", "euclidean"]
IndexSide = Literal["mention", "entity"]


class TokenVectors(NamedTuple):
    """Token vectors of some texts, padded to one length.

    vectors: (..., length, d); the content of padding does not matter.
    mask: (..., length) bool, True = a real token.
    """

    vectors: Tensor
    mask: Tensor


Encoded = Tensor | TokenVectors  # what a similarity reads: (n, d), or tokens of n texts


class Similarity(PartSettings, ABC):
    """s(m, e); the higher, the more alike. It reads one vector of each text, (n, d), or where
    ``token_level`` is true one of each token: ``TokenVectors`` of (n, length, d).
    ``BiEncoder.represent_mentions`` and ``represent_entities`` give what it reads.

    Attributes:
        registered_name: its name in the registry "pel_similarities".
        token_level: whether it compares tokens.
        metric: what the pooled vectors are compared by: their inner product or their distance.
    """

    registered_name: ClassVar[str]
    token_level: ClassVar[bool] = False
    metric: ClassVar[Metric] = "inner_product"

    # both sides are an ``Encoded``: tensors, or TokenVectors
    @abstractmethod
    def __call__(self, mentions: Any, entities: Any) -> Tensor:
        """n and m of them -> (n, m), all pairs, float32 or wider."""

    @abstractmethod
    def paired(self, mentions: Any, entities: Any) -> Tensor:
        """n mentions, each with k entities of its own, (n, k) -> (n, k), float32 or wider."""

    def index_width(self, width: int) -> int:
        """Width of the vectors for an index."""
        return width

    def index_vectors(self, vectors: Vectors, side: IndexSide) -> Vectors:
        """Vectors whose inner products rank as the similarity does, (n, d) -> (n, ``index_width``): an index
        compares inner products only. For tokens they do so approximately: what the index finds is rescored."""
        return vectors


def each(encoded: Encoded, change: Callable[[Tensor], Tensor]) -> Encoded:
    """Change the vectors, and the mask of tokens in the same way."""
    return TokenVectors(*map(change, encoded)) if isinstance(encoded, TokenVectors) else change(encoded)


def take(encoded: Encoded, index: Tensor) -> Encoded:
    """These texts, in the shape of the index, which may have repeats."""
    return each(encoded, lambda part: part[index])


def join(parts: Sequence[Encoded]) -> Encoded:
    """The texts of all parts in order, tokens padded to the longest."""
    tokens = [part for part in parts if isinstance(part, TokenVectors)]
    if not tokens:
        return torch.cat([part for part in parts if not isinstance(part, TokenVectors)])
    longest = max(part.mask.shape[-1] for part in tokens)
    missing = [longest - part.mask.shape[-1] for part in tokens]
    vectors = [pad(part.vectors, (0, 0, 0, more)) for part, more in zip(tokens, missing, strict=True)]
    masks = [pad(part.mask, (0, more)) for part, more in zip(tokens, missing, strict=True)]
    return TokenVectors(torch.cat(vectors), torch.cat(masks))
