"""The frequency prior of a surface form in annotated text, P(entity | surface form), without context."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from benchmarks.peers.scispacy_linker import Answer
from spacy_pel.kb import KnowledgeBase
from spacy_pel.util import normalize_alias

NOTE = (
    "Frequency prior: the training entities of the (normalised) surface form by frequency, then scispaCy's "
    "candidates. NIL score: (1 - P(best)) / 2 for a surface form of the training corpus, "
    "1 - similarity / 2 for others, so that an unknown surface form is always more likely NIL."
)


class FrequencyPrior:
    """Ranks by counts of the training corpus, and falls back to another linker's candidates.

    Args:
        kb: resolves the ids of the training corpus; ids it lacks are not counted.
        named: surface form and gold ids of each training mention.
        top_k: candidates kept.
    """

    def __init__(self, kb: KnowledgeBase, named: Iterable[tuple[str, Sequence[str]]], *, top_k: int = 64) -> None:
        self.top_k = top_k
        self._counts: defaultdict[str, Counter] = defaultdict(Counter)
        for surface, ids in named:
            live = {kb.resolve(entity_id) for entity_id in ids} - {None}
            if live:
                self._counts[normalize_alias(surface)].update(live)

    def rank(self, surfaces: Sequence[str], fallback: Sequence[Answer]) -> list[Answer]:
        """Rank the entities of each surface form.

        Args:
            surfaces: of the mentions.
            fallback: another linker's answers, for entities without a count.

        Returns:
            The training entities with P(entity | surface form), then the others
            with scores below them.
        """
        return [self._rank(normalize_alias(s), other) for s, other in zip(surfaces, fallback, strict=True)]

    def _rank(self, surface: str, other: Answer) -> Answer:
        counts = self._counts.get(surface)
        if not counts:
            best = other.candidates[0][1] if other.candidates else 0.0
            return Answer(other.candidates[: self.top_k], 1 - best / 2)
        total = sum(counts.values())
        # ties are broken by id, not by the order of the corpus
        order = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        first = [(entity_id, n / total) for entity_id, n in order]
        below = first[-1][1] / 2
        rest = [(entity_id, score * below) for entity_id, score in other.candidates if entity_id not in counts]
        return Answer((first + rest)[: self.top_k], (1 - first[0][1]) / 2)
