"""scispaCy's own CandidateGenerator on our knowledge bases."""

from collections.abc import Sequence
from typing import NamedTuple

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import MentionInText

from .scispacy_candidates import ScispacyCandidates

NOTE = (
    "scispaCy: its CandidateGenerator with its own TF-IDF settings (character 3-grams, min_df 10) over all "
    "names of the KB, candidates ordered by their best similarity, NIL score 1 - the best. Its approximate "
    "nmslib index cannot be built with scipy >= 1.11, so neighbours come from an exact search: recall is an "
    "upper bound of nmslib's, and the rate (distinct surface forms per second) is that of the exact search."
)


class Answer(NamedTuple):
    """The answer of a peer for one surface form.

    Attributes:
        candidates: ids and scores, best first.
        nil_score: higher = more likely NIL.
    """

    candidates: list[tuple[str, float]]
    nil_score: float


class ScispacyLinker:
    """Candidates from character 3-grams, in the order of ``scispacy.linking.EntityLinker``.

    Args:
        kb: the entities.
        neighbours: names looked up per mention; several may belong to one entity.
        top_k: candidates to keep.

    Raises:
        PelError: if scispaCy is not installed.
    """

    def __init__(self, kb: KnowledgeBase, *, neighbours: int = 200, top_k: int = 64) -> None:
        self.top_k = top_k
        self._kb = kb
        self._generator = ScispacyCandidates(neighbours=neighbours)
        self._generator.build(kb)

    def rank(self, surfaces: Sequence[str]) -> list[Answer]:
        """The candidates of each surface form by similarity, ties in KB order. The
        NIL score is 1 - the best similarity."""
        numbers: dict[str, int] = {}
        rows = [numbers.setdefault(surface, len(numbers)) for surface in surfaces]
        mentions = [MentionInText(surface, 0, len(surface)) for surface in numbers]
        ranked = self._generator.rank(self._kb, mentions, top_k=self.top_k)
        distinct = []
        for kb_rows, scores in ranked.lists:
            candidates = list(zip(self._kb.ids_at(kb_rows), scores.tolist(), strict=True))
            distinct.append(Answer(candidates, 1 - candidates[0][1] if candidates else 1.0))
        return [distinct[row] for row in rows]
