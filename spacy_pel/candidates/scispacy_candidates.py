"""scispaCy's own CandidateGenerator on our knowledge bases: the baseline of every table."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import Errors, PelError
from ..kb import KnowledgeBase
from ..registry import registry
from ..types import CandidateTable, MentionInText, RankedRows
from ..util import normalize_alias
from ..util.ragged import offsets_of
from .distinct_entities import Mask, live_mask
from .evidence.name_features import candidate_table
from .exact_neighbours import ExactNeighbours
from .generator_base import GeneratorBase, read_arrays, read_strings, write_arrays, write_strings
from .names import NameTable
from .vectorized_names import VectorizedNames

_NAMES, _TEXTS, _VECTORS = "names.npz", "names.json", "char"
_LEAST_NAMES = 1000  # in a toy knowledge base no n-gram occurs ten times


class _Aliases(NamedTuple):
    """What scispaCy's generator asks of its knowledge base: ``alias_to_cuis[name]``. Our rows, written with
    leading zeros, serve as ids: scispaCy orders by id."""

    table: NameTable
    texts: list[str]
    numbers: dict[str, int]
    vectors: VectorizedNames

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def alias_to_cuis(self) -> "_Aliases":
        return self

    def __getitem__(self, name: Any) -> Any:
        number = self.numbers[name]
        own = slice(self.table.offsets[number], self.table.offsets[number + 1])
        return [f"{row:010}" for row in self.table.kb_rows[own].tolist()]


@registry.pel_candidates("spacy-pel.ScispacyCandidates.v1")
class ScispacyCandidates(GeneratorBase[_Aliases]):
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

    registered_name = "spacy-pel.ScispacyCandidates.v1"

    def __init__(self, *, neighbours: int = 200):
        _generator_class()
        if neighbours < 1:
            raise PelError(
                Errors.E447.format(
                    expected="at least 1", setting="neighbours", generator=self.registered_name, got=neighbours
                )
            )
        self.neighbours = neighbours

    @property
    def settings(self) -> dict[str, Any]:
        """Those it was made with."""
        return {"neighbours": self.neighbours}

    def build(self, kb: KnowledgeBase, *, show_progress: bool = False) -> None:
        """Do the same as ``scispacy.candidate_generation.create_tfidf_ann_index``.

        Raises:
            PelError: if there are no names.
        """
        table, texts = NameTable.build(kb, kb.live_rows, str, show_progress=show_progress)
        vectorizer = _vectorizer(10 if len(texts) >= _LEAST_NAMES else 1)
        self._set(table, texts, VectorizedNames.fit(vectorizer, texts))
        self._kb_fingerprint = kb.fingerprint

    def _set(self, table: NameTable, texts: list[str], vectors: VectorizedNames) -> None:
        numbers = {name: number for number, name in enumerate(texts)}
        self._built = _Aliases(table, texts, numbers, vectors)

    def generate(
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Sequence[Mask] | None = None,
        top_k: int = 64,
    ) -> CandidateTable:
        """ "name" is the best similarity."""
        return candidate_table(kb, self.rank(kb, mentions, allowed=allowed, top_k=top_k), mentions)

    def rank(
        self,
        kb: KnowledgeBase,
        mentions: Sequence[MentionInText],
        *,
        allowed: Sequence[Mask] | None = None,
        top_k: int = 64,
    ) -> RankedRows:
        """What scispaCy finds, without further evidence."""
        if top_k < 1:
            raise PelError(Errors.E440.format(top_k=top_k))
        built, live = self.built(kb), live_mask(kb)
        numbers: dict[str, int] = {}
        asked = [mention.surface if normalize_alias(mention.surface) else "" for mention in mentions]
        which = [numbers.setdefault(text, len(numbers)) if text else -1 for text in asked]
        ask = _generator_class()(
            ann_index=ExactNeighbours(built.vectors.rows),
            tfidf_vectorizer=built.vectors.vectorizer,
            ann_concept_aliases_list=built.texts,
            kb=built,
        )
        found = []
        for candidates in ask(list(numbers), self.neighbours):
            rows = np.array([int(one.concept_id) for one in candidates], dtype=np.int64)
            scores = np.array([max(one.similarities) for one in candidates], dtype=np.float32)
            order = np.argsort(-scores, kind="stable")
            found.append((rows[order], scores[order]))
        pieces = []
        masks: Sequence[Mask] = [None] * len(asked) if allowed is None else allowed
        for number, mask in zip(which, masks, strict=True):
            rows, scores = found[number] if number >= 0 else (np.zeros(0, np.int64), np.zeros(0, np.float32))
            kept = np.ones(len(rows), dtype=np.bool_)
            for usable in (live, mask):
                if usable is not None:
                    kept &= usable[rows]
            pieces.append((rows[kept][:top_k], scores[kept][:top_k]))
        return RankedRows(
            np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in pieces)]),
            np.concatenate([np.zeros(0, np.float32), *(scores for _, scores in pieces)]),
            offsets_of(np.array([len(rows) for rows, _ in pieces], dtype=np.int64)),
        )

    def _write(self, path: Path) -> None:
        built = self.built()
        write_arrays(path / _NAMES, built.table.columns())
        write_strings(path / _TEXTS, built.texts)
        built.vectors.to_disk(path, _VECTORS)

    def _read(self, path: Path, settings: dict[str, Any]) -> None:
        neighbours = int(settings["neighbours"])
        table, texts = NameTable.of(read_arrays(path / _NAMES)), read_strings(path / _TEXTS)
        vectors = VectorizedNames.from_disk(path, _VECTORS, _vectorizer(1))
        if not len(table) == len(texts) == len(vectors):
            raise ValueError("names and vectors of different numbers")
        self._set(table, texts, vectors)
        self.neighbours = neighbours


def _vectorizer(min_df: int) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=min_df, dtype=np.float32)


def _generator_class() -> Any:
    try:
        from scispacy.candidate_generation import CandidateGenerator
    except ImportError as err:
        raise PelError(Errors.E003.format(feature="ScispacyCandidates", package="scispacy", extra="scispacy")) from err
    return CandidateGenerator
