"""scispaCy's own CandidateGenerator on a KB of ours."""

import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple, Sequence, Tuple

import numpy as np

from spacy_pel.errors import Errors, PelError
from spacy_pel.kb import KnowledgeBase
from spacy_pel.util import write_jsonl

from .exact_tfidf import ExactSparseIndex

NOTE = (
    "scispaCy: its CandidateGenerator with its own TF-IDF settings (character 3-grams, min_df 10) over all "
    "names of the KB, candidates ordered by their best similarity, NIL score 1 - the best. Its approximate "
    "nmslib index cannot be built with scipy >= 1.11, so neighbours come from an exact search: recall is an "
    "upper bound of nmslib's, and the rate (distinct surfaces per second) is that of the exact search."
)


class Answer(NamedTuple):
    """What a peer says about one surface.

    candidates (List[Tuple[str, float]]): ids and scores, best first.
    nil_score (float): higher = more likely NIL.
    """

    candidates: List[Tuple[str, float]]
    nil_score: float


class ScispacyLinker:
    """Candidates from character 3-grams, as ``scispacy.linking.EntityLinker`` orders them.

    kb (KnowledgeBase): its entities are handed to scispaCy as JSON lines.
    neighbours (int): names looked up per mention; several may belong to one entity.
    top_k (int): candidates kept.
    RAISES (PelError): if scispaCy is not installed.
    """

    def __init__(self, kb: KnowledgeBase, *, neighbours: int = 200, top_k: int = 64) -> None:
        try:
            from scispacy.candidate_generation import CandidateGenerator
            from scispacy.linking_utils import KnowledgeBase as SciKnowledgeBase
        except ImportError as err:
            raise PelError(
                Errors.E003.format(feature="benchmarks", package="scispacy", extra="scispacy")
            ) from err
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.neighbours = neighbours
        self.top_k = top_k
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kb.jsonl"
            write_jsonl(path, (entity.to_json() for entity in kb.entities()))
            sci_kb = SciKnowledgeBase(str(path))
        # the steps of scispacy.candidate_generation.create_tfidf_ann_index
        names = sorted(sci_kb.alias_to_cuis)
        vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(3, 3), min_df=_min_df(len(names)), dtype=np.float32
        )
        vectors = vectorizer.fit_transform(names)
        filled = np.diff(vectors.indptr) > 0
        self._generate = CandidateGenerator(
            ann_index=ExactSparseIndex(vectors[filled]),
            tfidf_vectorizer=vectorizer,
            ann_concept_aliases_list=[name for name, kept in zip(names, filled, strict=True) if kept],
            kb=sci_kb,
        )

    def rank(self, surfaces: Sequence[str]) -> List[Answer]:
        """RETURNS (List[Answer]): each surface's candidates by similarity; equal ones by id, as
        scispaCy's stable sort leaves them. The NIL score is 1 - the best similarity."""
        places: Dict[str, int] = {}
        rows = [places.setdefault(surface, len(places)) for surface in surfaces]
        distinct = []
        for found in self._generate(list(places), self.neighbours):
            scored = [(candidate.concept_id, float(max(candidate.similarities))) for candidate in found]
            ranked = sorted(scored, key=lambda pair: -pair[1])[: self.top_k]
            distinct.append(Answer(ranked, 1 - ranked[0][1] if ranked else 1.0))
        return [distinct[row] for row in rows]


def _min_df(n_names: int) -> int:
    return 10 if n_names >= 1000 else 1  # in a toy KB no n-gram occurs ten times
