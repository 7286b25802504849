"""Exact search with FAISS over 32-bit, 16-bit or 8-bit codes."""

from typing import Any, Literal

import faiss
import numpy as np

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Vectors
from .faiss_rows import FaissRows

Codes = Literal["fp32", "fp16", "int8"]
_FACTORY = {"fp32": "Flat", "fp16": "SQfp16", "int8": "SQ8"}  # FAISS's names


@registry.pel_indexes("spacy-pel.FaissFlat.v1")
class FaissFlat(FaissRows):
    """Compares a query with every row; only the rounding of the codes is approximate.

    Args:
        codes: how a number is stored: in 4, 2 or 1 bytes.
        pca: number of principal directions of the vectors to keep; None = all.

    Raises:
        PelError: if the codes are unknown.
    """

    name = "spacy-pel.FaissFlat.v1"

    def __init__(self, *, codes: Codes = "fp32", pca: int | None = None):
        super().__init__()
        if codes not in _FACTORY:
            raise PelError(Errors.E412.format(known=", ".join(_FACTORY), got=codes))
        self.codes = codes
        self.pca = pca

    @property
    def needs_training(self) -> bool:
        """Do the codes depend on a sample of the vectors?"""
        return self.codes == "int8" or self.pca is not None

    def _learn(self, vectors: Vectors) -> tuple[Any, Any]:
        width = vectors.shape[1]
        least = max(self.pca or 1, 1) if self.needs_training else 0
        if len(vectors) < least or (self.pca is not None and not 0 < self.pca <= width):
            raise PelError(Errors.E404.format(codes=self.codes, pca=self.pca, least=least, n=len(vectors), width=width))
        rotation = None if self.pca is None else _principal_rotation(vectors, self.pca)
        rows: Any = faiss.index_factory(self.pca or width, _FACTORY[self.codes], faiss.METRIC_INNER_PRODUCT)
        if self.needs_training:
            rows.train(vectors if rotation is None else rotation.apply(vectors))
        return rotation, rows

    def _read(self) -> None:
        self.pca = None if self._rotation is None else self._rows.d
        if isinstance(self._rows, faiss.IndexFlat):
            self.codes = "fp32"
        else:
            self.codes = "fp16" if self._rows.sq.qtype == faiss.ScalarQuantizer.QT_fp16 else "int8"


def _principal_rotation(vectors: Vectors, width: int) -> faiss.LinearTransform:
    """The directions that preserve inner products best: those with the largest second moments.

    Unlike in a textbook PCA the mean is not subtracted, as that would change the ranking.
    """
    moments = vectors.T.astype(np.float64) @ vectors
    _, directions = np.linalg.eigh(moments)  # ascending
    matrix = np.ascontiguousarray(directions[:, ::-1][:, :width].T, dtype=np.float32)
    rotation = faiss.LinearTransform(vectors.shape[1], width, False)
    faiss.copy_array_to_vector(matrix.ravel(), rotation.A)
    rotation.is_trained = True
    rotation.set_is_orthonormal()
    return rotation
