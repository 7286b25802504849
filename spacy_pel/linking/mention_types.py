"""What a detector thinks a mention is: probabilities over semantic types, compared with a candidate's own types."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, Scores
from ..types.semantic_types import ST21PV, st21pv_type
from .query import MentionQuery

_COLUMNS = {tui: column for column, tui in enumerate(ST21PV)}
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
    kb_rows = table.kb_rows[known]
    filled = kb_rows >= 0
    sets = np.zeros(kb_rows.shape, dtype=np.int32)
    sets[filled] = _type_sets(kb, kb_rows[filled])
    belongs = (sets[:, :, None] >> _BITS & 1).astype(np.float32)
    of_mentions: NDArray[np.float32] = np.stack(list(types.values())).astype(np.float32)
    of_candidates = np.einsum("nkt,nt->nk", belongs, of_mentions)
    typed = sets > 0
    counts = typed.sum(axis=1)
    mean = np.divide(of_candidates.sum(axis=1), counts, out=np.ones(len(known), np.float32), where=counts > 0)
    shares[known] = np.where(typed, of_candidates, mean[:, None])
    return shares


def _type_sets(kb: KnowledgeBase, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    """The types of ST21PV that entities belong to, one bit each; read once for each entity."""
    memo = kb.memo
    if "type_sets" not in memo:
        memo["type_sets"] = np.full(kb.n_rows, -1, dtype=np.int32)
    sets: NDArray[np.int32] = memo["type_sets"]
    unread = np.unique(rows[sets[rows] < 0])
    for row, types in zip(unread.tolist(), kb.types_at(unread) if len(unread) else (), strict=True):
        sets[row] = sum({1 << column for kind in types if (column := _column(kind)) is not None})
    return sets[rows]


@cache
def _column(kind: str) -> int | None:
    return _COLUMNS.get(st21pv_type(kind) or "")
