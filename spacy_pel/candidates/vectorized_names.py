"""Tf-idf vectors of names: scikit-learn's vectoriser, and the names as its rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from .generator_base import read_arrays, read_strings, write_arrays, write_strings
from .sparse_rows import FoundRows, SparseRows
from .words import words_of


def char_vectorizer(ngrams: tuple[int, int]) -> Any:
    """Of character n-grams, blanks between words included."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer="char", ngram_range=ngrams, lowercase=False, dtype=np.float32)


def word_vectorizer(ngrams: tuple[int, int]) -> Any:
    """Of words, split at what is no letter or digit."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        tokenizer=words_of, token_pattern=None, ngram_range=ngrams, lowercase=False, dtype=np.float32
    )


class VectorizedNames:
    """Names as vectors of length 1, searched by the cosine.

    Args:
        vectorizer: fitted.
        rows: the names' vectors.
    """

    def __init__(self, vectorizer: Any, rows: SparseRows):
        self.vectorizer = vectorizer
        self.rows = rows

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
        return cls(vectorizer, SparseRows.of(vectors))

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, names: list[str]) -> None:
        """Add names at the end."""
        if names:
            self.rows.add(self.vectorizer.transform(names))

    def search(self, texts: Sequence[str], k: int, usable: NDArray[np.bool_] | None = None) -> FoundRows:
        """The k names with the best cosine each; those without a common n-gram are
        left out."""
        return self.rows.search(self.vectorizer.transform(texts), k, usable)

    def to_disk(self, path: Path, name: str) -> None:
        """Write NAME_terms.json and NAME.npz to a folder."""
        vocabulary = self.vectorizer.vocabulary_
        write_strings(path / f"{name}_terms.json", sorted(vocabulary, key=vocabulary.__getitem__))
        write_arrays(path / f"{name}.npz", {**self.rows.columns(), "idf": self.vectorizer.idf_})

    @classmethod
    def from_disk(cls, path: Path, name: str, vectorizer: Any) -> "VectorizedNames":
        """Args:
            vectorizer: not fitted, with the settings of the saved one.

        Raises:
            ValueError, OSError, KeyError: if the files cannot be read.
        """
        terms, arrays = read_strings(path / f"{name}_terms.json"), read_arrays(path / f"{name}.npz")
        vectorizer.vocabulary = {term: number for number, term in enumerate(terms)}
        vectorizer.idf_ = arrays["idf"]
        return cls(vectorizer, SparseRows.from_columns(arrays))
