"""The negative Euclidean distance: the similarity of the triplet losses (Le & Nguyen 2023, section 3.2)."""

import numpy as np
import torch
from torch import Tensor

from ...registry import registry
from ...types import Vectors
from ...util.arrays import at_least_float32
from .similarity import IndexSide, Similarity

_MORE = 4  # extra dimensions for an index; keeps a width divisible by 4


@registry.pel_similarities("spacy-pel.Euclidean.v1")
class Euclidean(Similarity):
    """``-|m - e|``, at most 0. An index ranks by ``-|m - e|^2 / 2``, which is the inner product of
    ``[m, 1, 1, -|m|^2 / 2, 0]`` and ``[e, a, b, 1, 0]`` with ``a + b = -|e|^2 / 2``.
    """

    registered_name = "spacy-pel.Euclidean.v1"
    metric = "euclidean"

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
