"""What the candidates of a mention say together: one row of numbers per mention."""

from typing import Dict, List, Tuple

import numpy as np
from numpy.typing import NDArray

from ..types import CandidateTable, Scores

Floats = NDArray[np.float64]

_MARGIN = ["score", "margin", "entropy"]
_TOP = ["name", "mention", "vote", "exact", "prior", "popularity", "edit", "partial"]  # of the best
_BEST = ["name", "mention", "exact", "prior", "seen", "edit", "partial"]  # the highest of all candidates
_EPSILON = 1e-3


def best_scores(table: CandidateTable, scores: Scores) -> Tuple[Floats, NDArray[np.bool_]]:
    """The best score of each mention.

    table (CandidateTable): the candidates of n mentions.
    scores (Scores): (m,), one per candidate.
    RETURNS (tuple): (n,) best scores, 0 where there is no candidate, and (n,) which mentions
        have candidates.
    """
    filled = np.diff(table.offsets) > 0
    best = np.zeros(len(table))
    if filled.any():
        # the starts of the filled segments cut the array into exactly these segments
        best[filled] = np.maximum.reduceat(scores, table.offsets[:-1][filled])
    return best, filled


def summary_names() -> List[str]:
    """RETURNS (List[str]): the names of the columns of ``summarize``."""
    return [*_MARGIN, *(f"top_{name}" for name in _TOP), "top_log_prior", *(f"best_{name}" for name in _BEST)]


def summarize(table: CandidateTable, scores: Scores) -> Floats:
    """Numbers that tell a mention whose entity is among the candidates from one whose entity
    is not: how good the best candidate is, and how far ahead of the others.

    table (CandidateTable): the candidates of n mentions; a feature that it lacks counts as 0.
    scores (Scores): (m,), the combiner's.
    RETURNS (Floats): (n, len(summary_names())); zeros where there is no candidate.
    """
    summary = np.zeros((len(table), len(summary_names())))
    counts = np.diff(table.offsets)
    filled = counts > 0
    if not filled.any():
        return summary
    mention = np.repeat(np.arange(len(table)), counts)
    order = np.lexsort((-scores, mention))  # stable: a tie goes to the earlier candidate
    starts = table.offsets[:-1][filled]
    top = order[starts]
    second = order[np.minimum(starts + 1, len(order) - 1)]
    columns = [scores[top], np.where(counts[filled] > 1, scores[top] - scores[second], scores[top])]
    columns.append(_entropy(scores, starts, counts[filled]))
    features: Dict[str, Scores] = table.features
    absent = np.zeros(len(scores), dtype=np.float32)
    columns += [features.get(name, absent)[top] for name in _TOP]
    columns.append(np.log(features.get("prior", absent)[top] + _EPSILON))
    columns += [np.maximum.reduceat(features.get(name, absent), starts) for name in _BEST]
    summary[filled] = np.stack(columns, axis=1)
    return summary


def _entropy(scores: Scores, starts: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
    shares = np.maximum(scores.astype(np.float64), 0)
    totals = np.repeat(np.add.reduceat(shares, starts), counts)
    shares = shares / np.maximum(totals, 1e-12)
    return -np.add.reduceat(shares * np.log(np.maximum(shares, 1e-12)), starts)
