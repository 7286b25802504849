"""What a detector takes a mention for: probabilities of semantic types, compared with the candidates' own types."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, Rows, Scores, Vectors
from ..types.semantic_types import ST21PV, st21pv_type
from .query import MentionQuery

_COLUMNS = {tui: column for column, tui in enumerate(ST21PV)}
_LABELS = list(ST21PV.values())
_OF_DETECTOR = 0.3  # weight of its probabilities: of 0 to 1 the best on MedMentions dev
_BITS = np.arange(len(_COLUMNS), dtype=np.int32)


def type_shares(kb: KnowledgeBase, queries: Sequence[MentionQuery], table: CandidateTable) -> Scores | None:
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
    belongs = _belongs(kb, table.kb_rows[known])
    of_mentions: NDArray[np.float32] = np.stack(list(types.values())).astype(np.float32)
    of_candidates = np.einsum("nkt,nt->nk", belongs, of_mentions)
    typed = belongs.any(axis=2)
    counts = typed.sum(axis=1)
    mean = np.divide(of_candidates.sum(axis=1), counts, out=np.ones(len(known), np.float32), where=counts > 0)
    shares[known] = np.where(typed, of_candidates, mean[:, None])
    return shares


def labels_after_linking(
    kb: KnowledgeBase, queries: Sequence[MentionQuery], kb_rows: Rows, shares: NDArray[np.float64]
) -> list[str | None]:
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
        belongs = _belongs(kb, kb_rows[known])
        each = belongs / np.maximum(belongs.sum(axis=2, keepdims=True), 1.0)
        of_candidates = np.einsum("nk,nkt->nt", shares[known], each)
        of_mentions = np.stack([queries[number].types for number in known])  # type: ignore[misc]
        mixed = _OF_DETECTOR * of_mentions + (1 - _OF_DETECTOR) * of_candidates
        for number, column in zip(known, mixed.argmax(axis=1).tolist(), strict=True):
            labels[number] = _LABELS[column]
    return labels


def _belongs(kb: KnowledgeBase, kb_rows: Rows) -> Vectors:
    """(n, k, types of ST21PV), 1 where a candidate is of the type."""
    filled = kb_rows >= 0
    sets = np.zeros(kb_rows.shape, dtype=np.int32)
    sets[filled] = _type_sets(kb, kb_rows[filled])
    return (sets[:, :, None] >> _BITS & 1).astype(np.float32)


def _type_sets(kb: KnowledgeBase, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """The types of ST21PV that entities belong to, one bit each; read once for each entity."""
    memo = kb.memo
    if "type_sets" not in memo:
        memo["type_sets"] = np.full(kb.n_rows, -1, dtype=np.int32)
    sets: NDArray[np.int32] = memo["type_sets"]
    unread = np.unique(rows[sets[rows] < 0])
    for row, types in zip(unread.tolist(), kb.types_at(unread) if len(unread) else (), strict=True):
        sets[row] = sum(1 << _COLUMNS[tui] for tui in set(map(st21pv_type, types)) if tui is not None)
    return sets[rows]
