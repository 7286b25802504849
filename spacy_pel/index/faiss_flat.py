"""Indexes that compare a query with every row; only the rounding of the codes is approximate."""

from typing import Literal

from ..registry import registry
from .faiss_rows import FaissRows, check_codes


@registry.pel_indexes("spacy-pel.FaissFlat.v1")
class FaissFlat(FaissRows):
    """Rows of 32-bit, 16-bit or 8-bit numbers.

    Args:
        codes: how a number is stored: in 4, 2 or 1 bytes.
        pca: number of principal directions of the vectors to keep; None = all.

    Raises:
        PelError: if the codes are unknown.
    """

    name = "spacy-pel.FaissFlat.v1"

    def __init__(self, *, codes: Literal["fp32", "fp16", "int8"] = "fp32", pca: int | None = None):
        check_codes(codes)
        super().__init__(codes, pca=pca)


@registry.pel_indexes("spacy-pel.FaissPQ.v1")
class FaissPQ(FaissRows):
    """Each row is ``row_bytes`` bytes, each byte the nearest of 256 centroids of a slice of the
    vector (product quantisation, Jégou et al. 2011). Queries are not quantised. At the same size it
    keeps the ranking far better than a PCA with 8-bit codes: no direction is dropped.

    Args:
        row_bytes: must divide the width; None = a quarter of it, one byte for four numbers.
        rotate: first learn a rotation that makes the slices easy to quantise (optimised product
            quantisation, Ge et al. 2013).
    """

    name = "spacy-pel.FaissPQ.v1"

    def __init__(self, *, row_bytes: int | None = None, rotate: bool = True):
        super().__init__("pq", row_bytes=row_bytes, rotate=rotate)
