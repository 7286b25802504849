"""scispaCy's own CandidateGenerator on our knowledge bases: the baseline of every table."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spacy_pel.candidates.name_generator import Found, NameGenerator, NameTable, Search
from spacy_pel.candidates.tfidf import VectorizedNames
from spacy_pel.errors import Errors, PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Mask, Rows, Scores

_LEAST_NAMES = 1000  # in a toy knowledge base no n-gram occurs ten times


class _Neighbours(VectorizedNames):
    """In the place of the nmslib index in scispaCy's CandidateGenerator. It finds the true nearest neighbours, so its
    recall is an upper bound of what the approximate index gives."""

    def knnQueryBatch(self, queries: Any, k: int, num_threads: int = 1) -> list[tuple[Rows, Scores]]:
        """Rows and distances of each query's k nearest, nearest first. Distances are 1 - cosine, as in nmslib's
        space "cosinesimil_sparse"."""
        return [(rows, 1.0 - scores) for rows, scores in self.nearest(queries, k)]


class _Aliases(NamedTuple):
    """What scispaCy's generator asks of its knowledge base: ``alias_to_cuis[name]``. Our rows, written with
    leading zeros, serve as ids: scispaCy orders by id."""

    table: NameTable
    texts: list[str]
    numbers: dict[str, int]
    vectors: _Neighbours

    @classmethod
    def of(cls, table: NameTable, texts: list[str], vectors: _Neighbours) -> "_Aliases":
        """Number the texts."""
        return cls(table, texts, {name: number for number, name in enumerate(texts)}, vectors)

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def alias_to_cuis(self) -> "_Aliases":
        return self

    def __getitem__(self, name: Any) -> Any:
        number = self.numbers[name]
        rows = self.table.kb_rows[self.table.offsets[number] : self.table.offsets[number + 1]]
        return [f"{row:010}" for row in rows.tolist()]


class ScispacyCandidates(NameGenerator[_Aliases]):
    """``scispacy.candidate_generation.CandidateGenerator`` with its own settings: the tf-idf of character
    3-grams (within words, in 10 names at least) over all names, the nearest names, their entities by the
    best similarity, equal ones in the order of the knowledge base.

    Its approximate nmslib index cannot be built with scipy 1.11 and later, so the neighbours come from an
    exact search: recall is an upper bound of nmslib's. As in scispaCy there may be fewer than k entities,
    and what is not allowed is left out afterwards. ``add_entities`` rebuilds.

    Args:
        neighbours: names looked up for each mention; several may belong to one entity.

    Raises:
        PelError: if scispaCy is not installed.
    """

    fold = staticmethod(str)

    def __init__(self, *, neighbours: int = 200):
        _generator_class()
        self.neighbours = neighbours

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Do the same as ``scispacy.candidate_generation.create_tfidf_ann_index``.

        Raises:
            PelError: if there are no names.
        """
        table, texts = NameTable.build(kb, kb.live_rows, str, show_progress=show_progress)
        vectorizer = _vectorizer(10 if len(texts) >= _LEAST_NAMES else 1)
        self._built = _Aliases.of(table, texts, _Neighbours.fit(vectorizer, texts))
        self._kb_fingerprint = kb.fingerprint

    def searcher(self, kb: KnowledgeBase) -> Search:
        """Ask scispaCy's generator."""
        built = self.built(kb)
        ask = _generator_class()(
            ann_index=built.vectors,
            tfidf_vectorizer=built.vectors.vectorizer,
            ann_concept_aliases_list=built.texts,
            kb=built,
        )

        def search(texts: Sequence[str], k: int, mask: Mask) -> list[Found]:
            ranked = []
            for candidates in ask(texts, self.neighbours):
                rows = np.array([int(candidate.concept_id) for candidate in candidates], dtype=np.int64)
                scores = np.array([max(candidate.similarities) for candidate in candidates], dtype=np.float32)
                order = np.argsort(-scores, kind="stable")
                order = order if mask is None else order[mask[rows[order]]]
                ranked.append(Found(rows[order], scores[order]))
            return ranked

        return search


def _vectorizer(min_df: int) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=min_df, dtype=np.float32)


def _generator_class() -> Any:
    try:
        from scispacy.candidate_generation import CandidateGenerator
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="ScispacyCandidates", package="scispacy", extra="scispacy")) from err
    return CandidateGenerator
