"""Sparse candidates: names that share letters or words with the surface form. Their tf-idf vectors are scikit-learn's,
searched exactly by products of SciPy's sparse matrices."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import Mask, Rows, Scores
from ..util import logger, normalize_alias, read_json, write_json
from .generator_base import read_arrays
from .name_generator import Found, NameGenerator, NameTable, Search, words_of

_NAMES = "names.npz"
_BLOCK = 16  # queries multiplied at a time: two letters are shared by half of all names


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
        return self.nearest(self.vectorizer.transform(texts), k, usable)

    def nearest(
        self, queries: csr_matrix, k: int, usable: NDArray[np.bool_] | None = None
    ) -> list[tuple[Rows, Scores]]:
        """As ``search``, given the vectors of the texts: (n, n-grams)."""
        results: list[tuple[Rows, Scores]] = []
        for start in range(0, queries.shape[0], _BLOCK):
            products = (queries[start : start + _BLOCK] @ self._columns).tocsr()
            for first, end in zip(products.indptr[:-1], products.indptr[1:], strict=True):
                rows, scores = products.indices[first:end].astype(np.int64), products.data[first:end]
                wanted = scores > 0 if usable is None else (scores > 0) & usable[rows]
                results.append(best_of(rows[wanted], scores[wanted], k))
        return results

    def to_disk(self, path: Path, name: str) -> None:
        """Write NAME_terms.json and NAME.npz to a folder."""
        vocabulary = self.vectorizer.vocabulary_
        write_json(path / f"{name}_terms.json", sorted(vocabulary, key=vocabulary.__getitem__), indent=None)
        parts = {field: getattr(self._columns, field) for field in ("data", "indices", "indptr")}
        np.savez(path / f"{name}.npz", **parts, n_names=np.array(len(self)), idf=self.vectorizer.idf_)

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


class _Names(NamedTuple):
    """table: which entities have a name. lists: the names' vectors, by "char" and "word"."""

    table: NameTable
    lists: dict[str, VectorizedNames]

    @property
    def n_rows(self) -> int:
        return self.table.n_rows


@registry.pel_candidates("spacy-pel.TfIdf.v1")
class TfIdf(NameGenerator[_Names]):
    """Names by the cosine of their tf-idf vectors with that of the surface form (Le & Nguyen 2023, section
    "Candidate retrieval"): one list by character n-grams, one by words without stop words.

    The two lists are merged name by name: a name in both of them is kept once, with the better of its two
    cosines, and the names are ordered by that; equal ones in the order of the knowledge base. The best k of
    the merged list are exactly the k best by the better cosine. Names are compared in normal form (see
    ``util.normalize_alias``). The merged list is read until there are k distinct entities.

    Entities that are added later are weighted by the document frequencies of the first build.

    Args:
        char_ngrams: shortest and longest run of characters; None = none.
        word_ngrams: shortest and longest run of words; None = none.
    """

    registered_name = "spacy-pel.TfIdf.v1"

    def __init__(self, *, char_ngrams: Sequence[int] | None = (2, 5), word_ngrams: Sequence[int] | None = (1, 1)):
        for setting, lengths in (("char_ngrams", char_ngrams), ("word_ngrams", word_ngrams)):
            if lengths is not None and (len(lengths) != 2 or not 1 <= lengths[0] <= lengths[1]):
                raise self._wrong(setting, "a shortest and a longest length, 1 or more", list(lengths))
        if char_ngrams is None and word_ngrams is None:
            raise self._wrong("char_ngrams", "characters or words", "null for both")
        self.char_ngrams = None if char_ngrams is None else list(char_ngrams)
        self.word_ngrams = None if word_ngrams is None else list(word_ngrams)

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Count n-grams in the names of a knowledge base.

        Raises:
            PelError: if it has no names.
        """
        table, names = NameTable.build(kb, kb.live_rows, normalize_alias, show_progress=show_progress)
        if not names:
            raise PelError(Errors.E446.format(got="one without names"))
        if show_progress:  # scikit-learn shows no progress
            logger.info("Computing tf-idf vectors of %s names", f"{len(names):,}")
        lists = {kind: VectorizedNames.fit(made, names) for kind, made in self._vectorizers().items()}
        self._built, self._kb_fingerprint = _Names(table, lists), kb.fingerprint

    def searcher(self, kb: KnowledgeBase) -> Search:
        """Rank names by the better cosine of both lists."""
        table, by_kind = self.built(kb)

        def search(texts: Sequence[str], k: int, mask: Mask) -> list[Found]:
            usable = table.usable(mask)
            found = []
            for lists in zip(*(kind.search(texts, k, usable) for kind in by_kind.values()), strict=True):
                more = any(len(names) >= k for names, _ in lists)
                found.append(Found(*table.entities(*merge_best(lists, k), mask), more))
            return found

        return search

    def add_entities(self, kb: KnowledgeBase, kb_rows: Rows) -> None:
        """Update after a change of the knowledge base; document frequencies are not updated.

        Args:
            kb_rows: rows that were added, updated or retired.
        """
        table, lists = self.built(kb)
        names = table.change(kb, kb_rows, normalize_alias)
        for vectors in lists.values():
            vectors.add(names)
        self._kb_fingerprint = kb.fingerprint

    def _write(self, path: Path) -> None:
        table, lists = self.built()
        np.savez(path / _NAMES, **vars(table))
        for kind, names in lists.items():
            names.to_disk(path, kind)

    def _read(self, path: Path) -> _Names:
        table = NameTable(**read_arrays(path / _NAMES))
        lists = {
            kind: VectorizedNames.from_disk(path, kind, vectorizer) for kind, vectorizer in self._vectorizers().items()
        }
        if any(len(names) != len(table) for names in lists.values()):
            raise ValueError("vectors and names of different numbers")
        return _Names(table, lists)

    def _vectorizers(self) -> dict[str, Any]:
        """Not fitted: of character n-grams, blanks between words included, and of words, split at what is no letter or
        digit."""
        kinds: dict[str, Any] = {
            "char": (self.char_ngrams, {"analyzer": "char"}),
            "word": (self.word_ngrams, {"tokenizer": words_of, "token_pattern": None}),
        }
        return {
            kind: TfidfVectorizer(**settings, ngram_range=tuple(lengths), lowercase=False, dtype=np.float32)
            for kind, (lengths, settings) in kinds.items()
            if lengths is not None
        }


def merge_best(lists: Sequence[tuple[Rows, Scores]], k: int) -> tuple[Rows, Scores]:
    """The best k rows of several lists, best first: each row once with its best score; equal scores by row."""
    rows, which = np.unique(np.concatenate([rows for rows, _ in lists]), return_inverse=True)
    best = np.full(len(rows), -np.inf, dtype=np.float32)
    np.maximum.at(best, which, np.concatenate([scores for _, scores in lists]))
    return best_of(rows, best, k)
