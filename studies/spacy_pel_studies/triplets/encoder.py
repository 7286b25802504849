"""What dual encoders of Le & Nguyen (2023) read of an entity, and how they compare: synonyms, Euclidean distance."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from spacy_pel.encoders.similarities import IndexSide, Similarity
from spacy_pel.encoders.templates import CardBase
from spacy_pel.registry import registry
from spacy_pel.types import Entity, Vectors
from spacy_pel.util.arrays import at_least_float32
from spacy_pel.util.config import check_range

_MORE = 4  # extra dimensions for an index; keeps a width divisible by 4


@registry.pel_similarities("spacy-pel.Euclidean.v1")
class Euclidean(Similarity):
    """``-|m - e|``, at most 0. An index ranks by ``-|m - e|^2 / 2``, which is the inner product of
    ``[m, 1, 1, -|m|^2 / 2, 0]`` and ``[e, a, b, 1, 0]`` with ``a + b = -|e|^2 / 2``.
    """

    registered_name = "spacy-pel.Euclidean.v1"

    def __call__(self, mentions: Tensor, entities: Tensor) -> Tensor:
        """(n, d) and (m, d) -> (n, m), float32 or wider. The gradient of two equal vectors is 0."""
        # with a matrix product, small distances between long vectors would be lost to rounding
        exact = "donot_use_mm_for_euclid_dist"
        return -torch.cdist(at_least_float32(mentions), at_least_float32(entities), compute_mode=exact)

    def paired(self, mentions: Tensor, entities: Tensor) -> Tensor:
        """(n, d) and (n, k, d) -> (n, k), float32 or wider. The gradient of two equal vectors is 0."""
        return self(mentions.unsqueeze(1), entities).squeeze(1)

    def index_width(self, width: int) -> int:
        return width + _MORE

    def index_vectors(self, vectors: Vectors, side: IndexSide) -> Vectors:
        """(n, d + 4), see the class. The norm of an entity is in two parts, so that
        codes of 16 bits do not round it."""
        half = -(vectors.astype(np.float64) ** 2).sum(axis=1) / 2
        more = np.zeros((len(vectors), _MORE), dtype=np.float64)
        if side == "mention":
            more[:, 0] = more[:, 1] = 1.0
            more[:, 2] = half
        else:
            more[:, 0] = np.maximum(half, -65504.0).astype(np.float16)
            more[:, 1] = half - more[:, 0]
            more[:, 2] = 1.0
        return np.concatenate([vectors, more], axis=1, dtype=np.float32, casting="same_kind")


@registry.pel_templates("spacy-pel.SynonymCard.v1")
@dataclass(kw_only=True, eq=False)
class SynonymCard(CardBase):
    """``[CLS] type [SEP] syn_1 [SEP] syn_2 … [SEP]`` (Le & Nguyen 2023, dual-encoder re-ranker).

    syn_1 is the canonical name. Several types are joined by ","; an entity without a type
    begins with its name. The definition is not read.

    Args:
        max_length: word pieces in all, special tokens included; the end is cut.
        max_synonyms: at most this many names, including the canonical one.
    """

    registered_name: ClassVar[str] = "spacy-pel.SynonymCard.v1"
    max_synonyms: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("max_synonyms", self.max_synonyms, least=1)

    def parts(self, entity: Entity) -> list[str]:
        names = list(dict.fromkeys([entity.canonical_name, *entity.aliases]))[: self.max_synonyms]
        return [text for text in [", ".join(entity.types), *names] if text]
