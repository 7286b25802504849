"""Exact search with FAISS over 32-bit, 16-bit or 8-bit codes."""

from pathlib import Path
from typing import Any, Dict, Literal, Optional, Tuple

import faiss
import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Rows, Scores, Vectors
from ..util import atomic_path
from ..util.fork_safety import make_fork_safe
from .checks import check_vectors, damaged
from .faiss_blocks import search_blocks

_FILE = "vectors.faiss"
Codes = Literal["fp32", "fp16", "int8"]
_CODES: Dict[Codes, Optional[int]] = {
    "fp32": None,
    "fp16": faiss.ScalarQuantizer.QT_fp16,
    "int8": faiss.ScalarQuantizer.QT_8bit,
}
_MANY = 32  # from so many queries on it pays to decode the rows once for all of them

make_fork_safe()
# faiss's Python layer accepts arrays and keywords that its type stubs do not know
_bitmap: Any = faiss.IDSelectorBitmap
_search_parameters: Any = faiss.SearchParameters


@registry.pel_indexes("spacy-pel.FaissFlat.v1")
def make_faiss_flat(codes: Codes = "fp32", pca: Optional[int] = None) -> "FaissFlat":
    """Build a FaissFlat.

    codes (Literal["fp32", "fp16", "int8"]): how a number is stored: 4, 2 or 1 bytes.
    pca (Optional[int]): keep so many principal directions of the vectors; None = all.
    """
    return FaissFlat(codes=codes, pca=pca)


class FaissFlat:
    """Compares a query with every row; nothing but the rounding of the codes is approximate.

    A loaded index is memory-mapped: it opens at once and processes share its pages.
    """

    name = "spacy-pel.FaissFlat.v1"

    def __init__(self, *, codes: Codes = "fp32", pca: Optional[int] = None):
        if codes not in _CODES:
            raise PelError(Errors.E412.format(known=", ".join(_CODES), came=codes))
        self.codes = codes
        self.pca = pca
        self.width = 0
        self._rotation: Any = None  # a faiss.LinearTransform, with pca
        self._rows: Any = None  # a faiss.Index of the codes
        self._owner: Any = None  # of the two above, where they come from a file
        self._mapped = False

    def __len__(self) -> int:
        return 0 if self._rows is None else self._rows.ntotal

    @property
    def settings(self) -> Dict[str, Any]:
        return {"codes": self.codes, "pca": self.pca}

    @property
    def needs_training(self) -> bool:
        """Do the codes depend on a sample of the vectors?"""
        return self.codes == "int8" or self.pca is not None

    def train(self, vectors: Vectors) -> None:
        """Fix the width, learn the directions and the ranges of the codes, drop all rows.

        vectors (Vectors): a sample; may be empty unless ``needs_training``.
        RAISES (PelError): if the sample is too small for that.
        """
        width = vectors.shape[1]
        least = max(self.pca or 1, 1) if self.needs_training else 0
        if len(vectors) < least or (self.pca is not None and not 0 < self.pca <= width):
            raise PelError(
                Errors.E404.format(codes=self.codes, pca=self.pca, least=least, n=len(vectors), width=width)
            )
        self.width, self._mapped = width, False
        self._rotation = None if self.pca is None else _principal_rotation(vectors, self.pca)
        self._rows = self._make_rows(self.pca or width)
        if self.needs_training:
            self._rows.train(self._rotate(vectors))

    def add(self, vectors: Vectors) -> None:
        """Append vectors; their rows follow the present ones.

        RAISES (PelError): if the width differs.
        """
        check_vectors(vectors, self.width)
        if self._mapped:
            # FAISS ends the process when a mapped index is to grow: take it into memory
            self._rows = faiss.deserialize_index(faiss.serialize_index(self._rows))
            self._mapped = False
        self._rows.add(self._rotate(vectors))

    def search(
        self, vectors: Vectors, k: int, allowed: Optional[NDArray[np.bool_]] = None
    ) -> Tuple[Scores, Rows]:
        """Find the nearest rows.

        vectors (Vectors): (n, width) queries.
        k (int): how many rows each.
        allowed (Optional[NDArray[np.bool_]]): (rows,), False = never found.
        RETURNS (Tuple[Scores, Rows]): (n, k) each, best first; row -1 where there are fewer than k.
        RAISES (PelError): if the width differs.
        """
        check_vectors(vectors, self.width)
        queries = self._rotate(vectors)
        if len(queries) >= _MANY:
            return search_blocks(self._rows, queries, k, allowed)
        params = None
        if allowed is not None:
            bits = np.packbits(allowed, bitorder="little")  # alive until the search is over
            params = _search_parameters(sel=_bitmap(bits))
        scores, rows = self._rows.search(queries, k, params=params)
        return np.where(rows < 0, np.float32(-np.inf), scores), rows

    def vectors(self, start: int, stop: int) -> Vectors:
        """RETURNS (Vectors): (stop - start, width), what codes and rotation keep of these rows."""
        if self._rows is None:
            raise PelError(Errors.E403)
        kept = self._rows.reconstruct_n(start, stop - start)
        return kept if self._rotation is None else self._rotation.reverse_transform(kept)

    def to_disk(self, path: Path) -> None:
        """Write the FAISS file to a folder; FAISS alone can read and search it.

        RAISES (PelError): if the index was never trained, or the disk is full.
        """
        if self._rows is None:
            raise PelError(Errors.E403)
        whole = self._rows
        if self._rotation is not None:
            whole = faiss.IndexPreTransform(self._rotation, self._rows)
        with atomic_path(Path(path) / _FILE) as part:
            try:
                faiss.write_index(whole, str(part))
            except RuntimeError as err:  # ends in the system's words: "... (No space left on device)"
                raise OSError(0, str(err).rpartition("(")[2].strip(") \n"), str(part)) from err

    def from_disk(self, path: Path) -> "FaissFlat":
        """Map the FAISS file of a folder into memory; the settings become those of the file.

        RAISES (PelError): if the file is missing or damaged.
        """
        try:
            whole: Any = faiss.read_index(str(Path(path) / _FILE), faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError as err:
            raise damaged(Path(path), f"a whole {_FILE}", err) from err
        self._owner, self._mapped = whole, True
        self._rotation, self._rows = None, whole
        if isinstance(whole, faiss.IndexPreTransform):
            chain: Any = whole.chain
            self._rotation = faiss.downcast_VectorTransform(chain.at(0))
            self._rows = faiss.downcast_index(whole.index)
        self.width = whole.d
        self.pca = None if self._rotation is None else self._rows.d
        quantizer = None if isinstance(self._rows, faiss.IndexFlat) else self._rows.sq.qtype
        self.codes = next(name for name, known in _CODES.items() if known == quantizer)
        return self

    def _make_rows(self, width: int) -> faiss.Index:
        quantizer = _CODES[self.codes]
        if quantizer is None:
            return faiss.IndexFlatIP(width)
        return faiss.IndexScalarQuantizer(width, quantizer, faiss.METRIC_INNER_PRODUCT)

    def _rotate(self, vectors: Vectors) -> Vectors:
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        return vectors if self._rotation is None else self._rotation.apply(vectors)


def _principal_rotation(vectors: Vectors, width: int) -> faiss.LinearTransform:
    """The directions that keep inner products best: those of the largest second moments.

    Unlike in a textbook PCA the mean is not subtracted, as that would change the ranking.
    """
    moments = vectors.T.astype(np.float64) @ vectors
    _, directions = np.linalg.eigh(moments)  # ascending
    matrix = np.ascontiguousarray(directions[:, ::-1][:, :width].T, dtype=np.float32)
    rotation = faiss.LinearTransform(vectors.shape[1], width, False)
    faiss.copy_array_to_vector(matrix.ravel(), rotation.A)
    rotation.is_trained = True
    return rotation
