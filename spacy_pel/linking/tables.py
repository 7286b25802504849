"""Joining candidate tables, taking mentions from them, adding features and mentions without candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import CandidateTable, Rows, Scores
from ..util.ragged import places_in_pieces, segment_order


def join_tables(tables: Sequence[CandidateTable]) -> CandidateTable:
    """The mentions of all tables, in order. There must be at least one table."""
    ends = np.cumsum([0] + [len(table.kb_rows) for table in tables])
    offsets = [table.offsets[:-1] + end for table, end in zip(tables, ends, strict=False)]
    vectors = [table.vectors for table in tables if table.vectors is not None]
    return CandidateTable(
        kb_rows=np.concatenate([table.kb_rows for table in tables]),
        offsets=np.concatenate([*offsets, ends[-1:]]).astype(np.int64),
        features={name: np.concatenate([table.features[name] for table in tables]) for name in tables[0].features},
        vectors=np.concatenate(vectors) if len(vectors) == len(tables) else None,
        of_mentions={
            name: np.concatenate([table.of_mentions[name] for table in tables])
            for name in tables[0].of_mentions
            if all(name in table.of_mentions for table in tables)
        },
    )


def take_mentions(table: CandidateTable, rows: NDArray[np.int64]) -> CandidateTable:
    """The mentions of the given positions only; a position may occur twice."""
    counts = np.diff(table.offsets)[rows]
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    # where each taken candidate lies: its mention's first candidate + its position in the mention
    chosen = np.repeat(table.offsets[rows], counts) + places_in_pieces(offsets)
    return CandidateTable(
        kb_rows=table.kb_rows[chosen],
        offsets=offsets,
        features={name: values[chosen] for name, values in table.features.items()},
        vectors=None if table.vectors is None else table.vectors[rows],
        of_mentions={name: values[rows] for name, values in table.of_mentions.items()},
    )


def with_features(
    table: CandidateTable, features: Mapping[str, Scores], of_mentions: Mapping[str, Scores] | None = None
) -> CandidateTable:
    """A copy with more features, (m,) each, and more that is known of the mentions,
    (n,) each; the other arrays are shared."""
    return replace(
        table, features={**table.features, **features}, of_mentions={**table.of_mentions, **(of_mentions or {})}
    )


def first_candidates(table: CandidateTable, scores: NDArray[Any]) -> tuple[NDArray[np.bool_], Rows]:
    """(n,) which mentions have candidates, and for each of
    these where its best candidate by score is, a tie going to the earlier one."""
    filled = np.diff(table.offsets) > 0
    return filled, segment_order(scores, table.offsets)[table.offsets[:-1][filled]]


def insert_empty(table: CandidateTable, present: NDArray[np.bool_]) -> CandidateTable:
    """Add mentions without candidates.

    Args:
        table: as many mentions as ``present`` has true values.
        present: for each mention of the result: is it in the table?

    Returns:
        One mention for each value of ``present``.
    """
    counts = np.zeros(len(present), dtype=np.int64)
    counts[present] = np.diff(table.offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    vectors = None
    if table.vectors is not None:
        vectors = np.zeros((len(present), table.vectors.shape[1]), dtype=table.vectors.dtype)
        vectors[present] = table.vectors
    of_mentions = {name: np.zeros(len(present), dtype=np.float32) for name in table.of_mentions}
    for name, values in table.of_mentions.items():
        of_mentions[name][present] = values
    return replace(table, offsets=offsets, vectors=vectors, of_mentions=of_mentions)
