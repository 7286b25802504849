"""Sparse candidates: names that share letters or words with the surface form."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import Mask, Rows, Scores
from ..util import logger, normalize_alias
from .generator_base import read_arrays, write_arrays
from .name_generator import Found, NameGenerator, Search
from .names import NameTable
from .vectorized_names import VectorizedNames, best_of, char_vectorizer, word_vectorizer

_NAMES = "names.npz"


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
        write_arrays(path / _NAMES, vars(table))
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
        made = {}
        if self.char_ngrams is not None:
            made["char"] = char_vectorizer(self.char_ngrams)
        if self.word_ngrams is not None:
            made["word"] = word_vectorizer(self.word_ngrams)
        return made


def merge_best(lists: Sequence[tuple[Rows, Scores]], k: int) -> tuple[Rows, Scores]:
    """The best k rows of several lists, best first: each row once with its best score; equal scores by row."""
    rows, which = np.unique(np.concatenate([rows for rows, _ in lists]), return_inverse=True)
    best = np.full(len(rows), -np.inf, dtype=np.float32)
    np.maximum.at(best, which, np.concatenate([scores for _, scores in lists]))
    return best_of(rows, best, k)
