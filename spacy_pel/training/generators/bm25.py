"""Sparse candidates by BM25 over the words of names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...candidates.generator_base import read_arrays, write_arrays
from ...candidates.name_generator import Found, NameGenerator, NameTable, Search, words_of
from ...candidates.tfidf import best_of
from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...registry import registry
from ...types import Mask, Rows, Scores
from ...util import normalize_alias
from ...util.config import check_range

_NAMES, _BM25 = "names.npz", "bm25"


class _Names(NamedTuple):
    """names: which entities have them. scorer (bm25s.BM25): each name as one document."""

    names: NameTable
    scorer: Any

    @property
    def n_rows(self) -> int:
        return self.names.n_rows


@registry.pel_candidates("spacy-pel.BM25.v1")
class BM25(NameGenerator[_Names]):
    """Names by the BM25 score of their words for the words of the surface form (bm25s, Lucene's variant);
    they are read until there are k distinct entities. Each name is one document: with all names of an entity
    as one document, recall@1 on MedMentions was 33% instead of 55%, and recall@64 was 80% instead of 83%
    (dev set, open CUI knowledge base).

    A surface form finds names that share a whole word with it; stop words do not count unless there are no
    other words. Scores of different surface forms are not comparable. bm25s cannot add documents, so
    ``add_entities`` rebuilds.

    Args:
        k1: how slowly repetitions of a word saturate.
        b: how much longer names are penalised, 0..1.

    Raises:
        PelError: if bm25s is not installed, or a setting is out of range.
    """

    registered_name = "spacy-pel.BM25.v1"

    def __init__(self, *, k1: float = 1.5, b: float = 0.75):
        _bm25s()
        check_range("k1", k1, least=0, below=float("inf"))
        check_range("b", b, least=0, most=1)
        self.k1 = k1
        self.b = b

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Count the words of the names of a knowledge base.

        Raises:
            PelError: if there are none.
        """
        table, names = NameTable.build(kb, kb.live_rows, normalize_alias, show_progress=show_progress)
        words = [words_of(name) for name in names]
        if not any(words):
            raise PelError(Errors.E446.format(got=f"one whose {len(names)} names have no words"))
        scorer = _bm25s().BM25(k1=self.k1, b=self.b, method="lucene", backend="numpy")
        scorer.index(words, show_progress=show_progress)
        self._built, self._kb_fingerprint = _Names(table, scorer), kb.fingerprint

    def searcher(self, kb: KnowledgeBase) -> Search:
        """Rank names by their words."""
        table, scorer = self.built(kb)

        def search(texts: Sequence[str], k: int, mask: Mask) -> list[Found]:
            usable = table.usable(mask)
            best = [_best_names(scorer, words_of(text), k, usable) for text in texts]
            return [Found(*table.entities(names, scores, mask), len(names) >= k) for names, scores in best]

        return search

    def _write(self, path: Path) -> None:
        table, scorer = self.built()
        write_arrays(path / _NAMES, vars(table))
        scorer.save(path / _BM25, show_progress=False)

    def _read(self, path: Path) -> _Names:
        table = NameTable(**read_arrays(path / _NAMES))
        scorer = _bm25s().BM25.load(path / _BM25, show_progress=False)
        if scorer.scores["num_docs"] != len(table):
            raise ValueError("scores and names of different numbers")
        return _Names(table, scorer)


def _best_names(scorer: Any, words: list[str], k: int, usable: NDArray[np.bool_] | None) -> tuple[Rows, Scores]:
    known = scorer.get_tokens_ids(words)
    if not known:
        return np.zeros(0, np.int64), np.zeros(0, np.float32)
    scores = scorer.get_scores_from_ids(known)
    names = np.flatnonzero(scores > 0 if usable is None else (scores > 0) & usable)
    return best_of(names, scores[names], k)


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="BM25", package="bm25s", extra="bm25")) from err
    return bm25s
