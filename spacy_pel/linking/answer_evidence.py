"""What tells whether the best candidate is right, in any text.

The share of a candidate and P(NIL) say it best in text like that of the calibration. Elsewhere their scale differs,
and it helps to know what they rest on: names or annotated text, one entity of that name or many, spelling and vector
that agree.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..abbreviations.forms import may_be_short
from ..candidates.evidence.evidence import best_cosines
from ..types import MENTION_TYPE, CandidateTable, Floats

_CLOSE = 1e-6  # probabilities have finite logits


def answer_features(table: CandidateTable, shares: Floats, nil_scores: Floats, forms: Sequence[str]) -> Floats:
    """What tells of the best candidates, and each of it once more for the forms that annotated text has: what
    a share is worth differs between the two.

    Args:
        table: the candidates of n mentions.
        shares: (n, k), see ``shares_of``.
        nil_scores: (n,), between 0 and 1.
        forms: (n,), their surface forms.

    Returns:
        (n, features); of no meaning where there is no candidate.
    """
    filled, features = table.filled, table.features
    rows, first = np.arange(len(table)), shares.argmax(axis=1)

    def column(name: str) -> Floats:
        values = features.get(name)
        return np.zeros(filled.shape) if values is None else np.where(filled, values, 0.0).astype(np.float64)

    def of_first(name: str) -> Floats:
        return column(name)[rows, first]

    ordered = np.sort(shares, axis=1)
    best, second = ordered[:, -1], ordered[:, -2] if ordered.shape[1] > 1 else np.zeros(len(table))
    cosines = np.where(filled, best_cosines(features), -np.inf)
    seen = column("seen").max(axis=1)
    values = [
        logit(best),
        logit(nil_scores),
        np.log(best + _CLOSE) - np.log(second + _CLOSE),
        seen,  # does annotated text have the form?
        of_first("exact"),  # is the form one of its names?
        names_alone(table, first),  # and a name of no other candidate?
        of_first("popularity") <= 0,  # did annotated text never name the entity?
        of_first("name"),  # cosine with its nearest name
        of_first("edit"),  # similarity to the spelling of its nearest name
        np.log(of_first(MENTION_TYPE) + 1e-2),  # as the detector reads the mention
        cosines[rows, first] >= cosines.max(axis=1) - _CLOSE,  # has no candidate a higher cosine?
        of_first("edit") >= column("edit").max(axis=1) - _CLOSE,  # is none spelled more like it?
        np.log([max(1, len(form)) for form in forms]),
    ]
    matrix = np.stack(values, axis=1)
    return np.concatenate([matrix, matrix * seen[:, None]], axis=1)


def names_alone(table: CandidateTable, first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(n,), whether the form is a name of the candidate at this column, and of no other one."""
    exact = table.filled & (table.features["exact"] > 0)
    return exact[np.arange(len(table)), first] & (exact.sum(axis=1) == 1)


def is_unambiguous(table: CandidateTable, first: NDArray[np.int64], forms: Sequence[str]) -> NDArray[np.bool_]:
    """(n,), whether a form that annotated text lacks is the name of the candidate at this column alone, and no
    abbreviation, which may stand for anything else."""
    seen = (table.filled & (table.features["seen"] > 0)).any(axis=1)
    is_word = np.array([not may_be_short(form) for form in forms], dtype=np.bool_)
    return names_alone(table, first) & ~seen & is_word


def logit(probability: Floats) -> Floats:
    """Its log odds, finite."""
    inside = np.clip(probability, _CLOSE, 1.0 - _CLOSE)
    return np.log(inside / (1.0 - inside))  # type: ignore[no-any-return]
