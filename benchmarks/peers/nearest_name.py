"""The nearest name by an encoder's vectors, of the surface form alone: what an encoder finds without context
and without any other evidence."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.scispacy_linker import Answer
from spacy_pel.errors import PelError
from spacy_pel.index.row_table import NAME_KINDS
from spacy_pel.pipeline.saved import load_pipeline

NOTE = (
    "Nearest name: the entity of the name whose vector is nearest to that of the surface form (abbreviations "
    "expanded), read alone. NIL score 1 - its cosine."
)
_ROWS_EACH = 4  # rows to look at for each candidate: an entity has several names


class NearestName:
    """Ranks entities by their nearest name.

    Args:
        pipeline: a saved pipeline, whose encoder and index are used, and nothing else.
        top_k: candidates kept.

    Raises:
        PelError: if it cannot be loaded.
    """

    def __init__(self, pipeline: Path, *, top_k: int = 64) -> None:
        linker = load_pipeline(pipeline).component.linker
        if linker.encoder is None or linker.index is None:
            raise PelError(f"Expected {pipeline} to have an encoder and an index, got none.")
        self._kb, self._encoder, self._index = linker.kb, linker.encoder, linker.index
        self.top_k = top_k

    def rank(self, surfaces: Sequence[str]) -> list[Answer]:
        """The candidates of each surface form by cosine; an entity's best name
        counts."""
        distinct = list(dict.fromkeys(surfaces))
        vectors = self._encoder.encode_names(distinct)
        found = self._index.search_groups(vectors, self.top_k * _ROWS_EACH, None, (NAME_KINDS,))
        answers: dict[str, Answer] = {}
        for surface, scores, rows in zip(distinct, *found[0], strict=True):
            best: dict[int, float] = {}
            for score, row in zip(scores.tolist(), rows.tolist(), strict=True):
                if row >= 0:
                    best.setdefault(row, score)  # they come with the best first
            ids = self._kb.ids_at(list(best))
            candidates = list(zip(ids, best.values(), strict=True))[: self.top_k]
            answers[surface] = Answer(candidates, 1 - candidates[0][1] if candidates else 1.0)
        return [answers[surface] for surface in surfaces]
