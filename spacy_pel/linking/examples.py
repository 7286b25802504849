"""Annotated mentions with their evidence: what the parts of a linker are fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable
from .query import MentionQuery
from .tables import join_tables, take_mentions

_FOLDS = 5  # of the documents


@dataclass(frozen=True)
class Examples:
    """Annotated mentions and the candidates that a linker found for them.

    Attributes:
        kb: of the linker.
        queries: the n mentions.
        table: their candidates.
        gold: for each mention the KB rows of its entity; empty = NIL.
        documents: (n,), which document each mention is in.
        composite: (n,), which mean all of their entities.
    """

    kb: KnowledgeBase
    queries: list[MentionQuery]
    table: CandidateTable
    gold: list[NDArray[np.int64]]
    documents: list[Any]
    composite: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def surfaces(self) -> list[str]:
        """(n,), the surface forms of the mentions."""
        return [query.surface for query in self.queries]

    @property
    def is_nil(self) -> NDArray[np.bool_]:
        """(n,), True where the entity is not in the KB."""
        return np.array([len(rows) == 0 for rows in self.gold], dtype=np.bool_)

    @property
    def linkable(self) -> "Examples":
        """The mentions whose entity is in the KB."""
        return self.take(np.flatnonzero(~self.is_nil))

    def take(self, rows: NDArray[np.int64]) -> "Examples":
        """The mentions of the given positions only."""
        return Examples(
            self.kb,
            [self.queries[i] for i in rows],
            take_mentions(self.table, rows),
            [self.gold[i] for i in rows],
            [self.documents[i] for i in rows],
            self.composite[rows],
        )

    @property
    def document_numbers(self) -> NDArray[np.int64]:
        """(n,), the documents numbered in the order of their first mention."""
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(one, len(numbers)) for one in self.documents], dtype=np.int64)

    @property
    def folds(self) -> NDArray[np.int64]:
        """(n,), which fifth of the documents each mention is in: by counts of the
        other fifths, no document tells on itself."""
        return self.document_numbers % _FOLDS


def join_examples(parts: Sequence[Examples]) -> Examples:
    """Join examples of several linkers. Rows of a KB are compared within a mention only, so that the KBs may
    differ.

    Args:
        parts: at least one; their documents are all different.

    Returns:
        Of all mentions, in order, with the KB of the first part.
    """
    if len(parts) == 1:
        return parts[0]
    return Examples(
        parts[0].kb,
        [query for part in parts for query in part.queries],
        join_tables([part.table for part in parts]),
        [rows for part in parts for rows in part.gold],
        [(number, document) for number, part in enumerate(parts) for document in part.documents],
        np.concatenate([part.composite for part in parts]),
    )
