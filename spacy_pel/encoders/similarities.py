"""Similarities of the vectors of mentions and entities, ``similarity(mentions, entities) -> scores``, and what they
read: one vector of a text, or one of each token."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple

from torch import Tensor
from torch.nn.functional import normalize

from ..registry import registry
from ..types import Vectors
from ..util.arrays import at_least_float32, unit_length
from ..util.config import PartSettings

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

    Attributes:
        registered_name: its name in the registry "pel_similarities".
        token_level: whether it compares tokens.
    """

    registered_name: ClassVar[str]
    token_level: ClassVar[bool] = False

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
