"""The negative Euclidean distance: the similarity of the triplet losses (Le & Nguyen 2023, section 3)."""

from typing import TYPE_CHECKING, Any, Dict

from ..registry import registry
from .similarity import Metric

if TYPE_CHECKING:
    from torch import Tensor


@registry.pel_similarities("spacy-pel.Euclidean.v1")
def make_euclidean() -> "Euclidean":
    """Build a Euclidean."""
    return Euclidean()


class Euclidean:
    """``-|m - e|``, at most 0. An index of inner products cannot rank by it."""

    registered_name = "spacy-pel.Euclidean.v1"
    unit_vectors = False
    metric: Metric = "euclidean"

    @property
    def settings(self) -> Dict[str, Any]:
        return {}

    def __call__(self, mentions: "Tensor", entities: "Tensor") -> "Tensor":
        """(n, d) and (m, d) -> (n, m), float32 or wider. The gradient of two equal vectors is 0."""
        import torch

        from .widen import widen

        # by a matrix product, small distances between long vectors would be rounding errors
        exact = "donot_use_mm_for_euclid_dist"
        return -torch.cdist(widen(mentions), widen(entities), compute_mode=exact)
