"""Which types of entities the labels of mentions stand for: a "Chemical" is hardly ever a disease."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, Scores
from ..util.arrays import numbered
from .query import MentionQuery

# label -> type -> mentions; "" is the type of entities without any
Counts = Mapping[str, Mapping[str, float]]

_SMOOTHING = 0.5  # mentions that each type has before any is counted
_MIN_LABELS = 2  # of a single label all that could be learned is how frequent types are


@dataclass(frozen=True)
class LabelTypes:
    """Counts of annotated mentions by label and by the types of their entity.

    Attributes:
        counts: label, capitals ignored -> type -> mentions. An entity with several types counts as a
            part of one for each, and so do the entities of a mention with several. Empty = nothing is known.
    """

    counts: Counts = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.counts)

    @classmethod
    def of(cls, kb: KnowledgeBase, queries: Sequence[MentionQuery], gold: Sequence[NDArray[np.int64]]) -> "LabelTypes":
        """Count mentions.

        Args:
            kb: the entities.
            queries: (n,), the mentions.
            gold: (n,), the KB rows of their entities; none = not counted.

        Returns:
            Empty where there are fewer than two labels, or all entities are of one type.
        """
        pairs = [
            (query.label.casefold(), int(row), 1 / len(rows))
            for query, rows in zip(queries, gold, strict=True)
            for row in rows
        ]
        types = kb.types_at([row for _, row, _ in pairs])
        counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for (label, _, share), of_entity in zip(pairs, types, strict=True):
            for kind in of_entity or [""]:
                counts[label][kind] += share / max(len(of_entity), 1)
        known = {kind for of_label in counts.values() for kind in of_label}
        if len(counts) < _MIN_LABELS or len(known) < 2:
            return cls()
        return cls({label: dict(sorted(of_label.items())) for label, of_label in sorted(counts.items())})

    def shares(self, kb: KnowledgeBase, queries: Sequence[MentionQuery], table: CandidateTable) -> Scores:
        """P(type | label) of candidates.

        Args:
            kb: whose rows they are.
            queries: (n,), the mentions.
            table: their candidates.

        Returns:
            (n, k), of the likeliest of its types; 1 for a label that was never counted.
        """
        filled = table.filled
        rows, which = np.unique(table.kb_rows[filled], return_inverse=True)
        # the combinations of types: far fewer than entities
        combinations, types_of = numbered(tuple(types or [""]) for types in kb.types_at(rows))
        label_of = [query.label.casefold() for query in queries]
        known = sorted(set(label_of) & set(self.counts))
        by_label = np.ones((len(known) + 1, len(combinations)), dtype=np.float32)  # the last: of unknown labels
        for number, label in enumerate(known):
            share, floor = self._smoothed[label]
            by_label[number] = [max(share.get(kind, floor) for kind in types) for types in combinations]
        numbers_of_labels = {label: number for number, label in enumerate(known)}
        number_of = np.array([numbers_of_labels.get(label, len(known)) for label in label_of], dtype=np.int64)
        shares = np.ones(filled.shape, dtype=np.float32)
        shares[filled] = by_label[number_of[np.nonzero(filled)[0]], types_of[which]]
        return shares

    @cached_property
    def _smoothed(self) -> dict[str, tuple[dict[str, float], float]]:
        """For each label the share of each type that it had, and of any other."""
        n_types = len({kind for of_label in self.counts.values() for kind in of_label}) + 1
        smoothed = {}
        for label, counts in self.counts.items():
            total = sum(counts.values()) + _SMOOTHING * n_types
            shares = {kind: (n + _SMOOTHING) / total for kind, n in counts.items()}
            smoothed[label] = shares, _SMOOTHING / total
        return smoothed

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {label: dict(of_label) for label, of_label in self.counts.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "LabelTypes":
        """As saved by ``state``."""
        return cls({label: dict(of_label) for label, of_label in state.items()})
