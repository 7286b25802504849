"""What a detector takes a mention for: probabilities of semantic types, compared with the candidates' own types."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, Floats, Rows, Scores, Vectors
from ..types.semantic_types import ST21PV, st21pv_type
from ..util.arrays import numbered, row_products
from .query import Queries

_COLUMNS = {tui: column for column, tui in enumerate(ST21PV)}
_LABELS = list(ST21PV.values())
_OF_DETECTOR = 0.3  # weight of its probabilities: of 0 to 1 the best on MedMentions dev
_BITS = np.arange(len(_COLUMNS), dtype=np.int32)


def type_shares(kb: KnowledgeBase, queries: Queries, table: CandidateTable) -> Scores | None:
    """P(type of the candidate | mention in its context).

    Args:
        kb: whose rows the candidates are.
        queries: (n,), the mentions.
        table: their candidates.

    Returns:
        (n, k), the sum over the types of ST21PV that the candidate's types belong to. For a candidate without any,
        the mean of the mention's others; 1 throughout for a mention without ``types``. None if no mention has them.
    """
    types = {number: query.types for number, query in enumerate(queries) if query.types is not None}
    if not types:
        return None
    known = list(types)
    shares = np.ones(table.kb_rows.shape, dtype=np.float32)
    which, belongs = _belonging(kb, table.kb_rows[known])
    of_mentions: NDArray[np.float32] = np.stack(list(types.values())).astype(np.float32)
    of_candidates = np.take_along_axis(row_products(of_mentions, belongs), which, axis=1)
    typed = belongs.any(axis=1)[which]
    counts = typed.sum(axis=1)
    mean = np.divide(of_candidates.cumsum(axis=1)[:, -1], counts, out=np.ones(len(known), np.float32), where=counts > 0)
    shares[known] = np.where(typed, of_candidates, mean[:, None])
    return shares


def labels_after_linking(kb: KnowledgeBase, queries: Queries, kb_rows: Rows, shares: Floats) -> list[str | None]:
    """The labels of ST21PV that mentions most probably have, by the detector and by the types of their candidates.

    Args:
        kb: whose rows the candidates are.
        queries: (n,), the mentions.
        kb_rows: (n, k), their candidates; -1 = none.
        shares: (n, k), theirs.

    Returns:
        None for mentions without ``types``.
    """
    labels: list[str | None] = [None] * len(queries)
    known = [number for number, query in enumerate(queries) if query.types is not None]
    if known:
        which, belongs = _belonging(kb, kb_rows[known])
        each = belongs / np.maximum(belongs.sum(axis=1, keepdims=True, dtype=np.float64), 1.0)
        of_candidates = np.einsum("nk,nkt->nt", shares[known], each[which])  # adds the candidates in their order
        of_mentions = np.stack([queries[number].types for number in known])  # type: ignore[misc]
        mixed = _OF_DETECTOR * of_mentions + (1 - _OF_DETECTOR) * of_candidates
        for number, column in zip(known, mixed.argmax(axis=1).tolist(), strict=True):
            labels[number] = _LABELS[column]
    return labels


def _belonging(kb: KnowledgeBase, kb_rows: Rows) -> tuple[Rows, Vectors]:
    """(n, k), the set of types of each candidate; and (sets, types of ST21PV), 1 where a set has the type."""
    sets = np.zeros(kb_rows.shape, dtype=np.int32)
    sets[kb_rows >= 0] = _type_sets(kb, kb_rows[kb_rows >= 0])
    distinct, which = np.unique(sets, return_inverse=True)
    return which.reshape(sets.shape), (distinct[:, None] >> _BITS & 1).astype(np.float32)


def _type_sets(kb: KnowledgeBase, rows: Rows) -> NDArray[np.int32]:
    """The types of ST21PV that entities belong to, one bit each; read once for each entity."""
    memo = kb.memo
    if "type_sets" not in memo:
        memo["type_sets"] = np.full(kb.n_rows, -1, dtype=np.int32)
    sets: NDArray[np.int32] = memo["type_sets"]
    unread = np.unique(rows[sets[rows] < 0])
    for row, types in zip(unread.tolist(), kb.types_at(unread) if len(unread) else (), strict=True):
        sets[row] = sum(1 << _COLUMNS[tui] for tui in set(map(st21pv_type, types)) if tui is not None)
    return sets[rows]


# -- what labels stand for --------------------------------------------------------------------------


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

    @classmethod
    def of(cls, kb: KnowledgeBase, queries: Queries, gold: Sequence[Rows]) -> "LabelTypes":
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

    def shares(self, kb: KnowledgeBase, queries: Queries, table: CandidateTable) -> Scores:
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
