"""Tf-idf vectors of names, searched exactly: scikit-learn's vectoriser, and products of SciPy's sparse matrices."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer

from ..errors import Errors, PelError
from ..types import Rows, Scores
from ..util import read_json, write_json
from .generator_base import read_arrays, write_arrays
from .names import words_of

_BLOCK = 16  # queries multiplied at a time: two letters are shared by half of all names


def char_vectorizer(ngrams: Sequence[int]) -> Any:
    """Of character n-grams, blanks between words included."""
    return TfidfVectorizer(analyzer="char", ngram_range=tuple(ngrams), lowercase=False, dtype=np.float32)


def word_vectorizer(ngrams: Sequence[int]) -> Any:
    """Of words, split at what is no letter or digit."""
    return TfidfVectorizer(
        tokenizer=words_of, token_pattern=None, ngram_range=tuple(ngrams), lowercase=False, dtype=np.float32
    )


class VectorizedNames:
    """Names as vectors of length 1, searched by the cosine.

    Args:
        vectorizer: fitted.
        columns: (n-grams, names): transposed, so that a product walks along its rows.
    """

    def __init__(self, vectorizer: Any, columns: csr_matrix):
        self.vectorizer = vectorizer
        self._columns = columns

    @classmethod
    def fit(cls, vectorizer: Any, names: list[str]) -> "VectorizedNames":
        """Learn the n-grams of names.

        Args:
            vectorizer: not fitted.
            names: all of them.

        Raises:
            PelError: if no name has an n-gram.
        """
        try:
            vectors = vectorizer.fit_transform(names)
        except ValueError as err:  # "empty vocabulary"
            raise PelError(Errors.E446.format(got=f"one whose {len(names)} names have no n-grams ({err})")) from err
        return cls(vectorizer, vectors.T.tocsr())

    def __len__(self) -> int:
        return int(self._columns.shape[1])

    def add(self, names: list[str]) -> None:
        """Add names at the end."""
        if names:
            self._columns = hstack([self._columns, self.vectorizer.transform(names).T], format="csr")

    def search(
        self, texts: Sequence[str], k: int, usable: NDArray[np.bool_] | None = None
    ) -> list[tuple[Rows, Scores]]:
        """Find the k names with the best cosine each; those without a common n-gram are left out. Equal cosines:
        the lower row comes first.

        Args:
            texts: (n,).
            k: how many names each.
            usable: mask over the names; None = all.

        Returns:
            For each text rows and scores, best first.
        """
        return self._search(self.vectorizer.transform(texts), k, usable)

    def _search(
        self, queries: csr_matrix, k: int, usable: NDArray[np.bool_] | None = None
    ) -> list[tuple[Rows, Scores]]:
        results: list[tuple[Rows, Scores]] = []
        for start in range(0, queries.shape[0], _BLOCK):
            products = (queries[start : start + _BLOCK] @ self._columns).tocsr()
            for first, end in zip(products.indptr[:-1], products.indptr[1:], strict=True):
                rows, scores = products.indices[first:end].astype(np.int64), products.data[first:end]
                wanted = scores > 0 if usable is None else (scores > 0) & usable[rows]
                results.append(best_of(rows[wanted], scores[wanted], k))
        return results

    def knnQueryBatch(self, queries: csr_matrix, k: int, num_threads: int = 1) -> list[tuple[Rows, Scores]]:
        """Replaces that of the nmslib index in scispaCy's CandidateGenerator. It finds the true nearest neighbours,
        so its recall is an upper bound of what the approximate index gives.

        Returns:
            Rows and distances of each query's k nearest, nearest first. Distances are 1 - cosine, as in nmslib's
            space "cosinesimil_sparse".
        """
        return [(rows, 1.0 - scores) for rows, scores in self._search(queries, k)]

    def to_disk(self, path: Path, name: str) -> None:
        """Write NAME_terms.json and NAME.npz to a folder."""
        vocabulary = self.vectorizer.vocabulary_
        write_json(path / f"{name}_terms.json", sorted(vocabulary, key=vocabulary.__getitem__), indent=None)
        parts = {field: getattr(self._columns, field) for field in ("data", "indices", "indptr")}
        write_arrays(path / f"{name}.npz", {**parts, "n_names": np.array(len(self)), "idf": self.vectorizer.idf_})

    @classmethod
    def from_disk(cls, path: Path, name: str, vectorizer: Any) -> "VectorizedNames":
        """Args:
            vectorizer: not fitted, with the settings of the saved one.

        Raises:
            ValueError, OSError, KeyError: if the files cannot be read.
        """
        terms, arrays = read_json(path / f"{name}_terms.json"), read_arrays(path / f"{name}.npz")
        vectorizer.vocabulary = {term: number for number, term in enumerate(terms)}
        vectorizer.idf_ = arrays["idf"]
        parts = arrays["data"], arrays["indices"], arrays["indptr"]
        columns = csr_matrix(parts, shape=(len(terms), int(arrays["n_names"])))
        columns.check_format(full_check=True)
        return cls(vectorizer, columns)


def best_of(rows: Rows, scores: Scores, k: int) -> tuple[Rows, Scores]:
    """Those of the k best scores, best first; equal ones by row."""
    if len(rows) > k:
        # all scores equal to the k-th are kept until ties are broken by row
        wanted = scores >= np.partition(scores, -k)[-k]
        rows, scores = rows[wanted], scores[wanted]
    order = np.lexsort((rows, -scores))[:k]
    return rows[order], scores[order]
