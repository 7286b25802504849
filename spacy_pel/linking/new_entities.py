"""How often a form that annotated text lacks names an entity that no annotated text ever named.

Weights and counts take that share to be what it is in the text that they come from. Elsewhere it may be several
times as high: phenotypes or drugs that nobody annotated. It can be estimated from text without annotation, by
expectation-maximisation (Saerens, Latinne and Decaestecker 2002, Eq. 9), and the odds of such candidates multiplied by
the ratio of the odds of both shares (Eq. 4).

A candidate counts as new only if no annotated candidate fits the form as well by its names. Many entities have a twin
of the same name under another id, and of two twins the annotated one is meant.
"""

from collections.abc import Sequence

import numpy as np

from ..types import CandidateTable, Flags, Floats, Scores
from ..util.arrays import softmax
from .query import MentionQuery

_IN_ADVANCE = 10.0  # mentions of a document that the home share counts for
_ROUNDS, _CLOSE = 200, 1e-6
_LEAST = 0.005  # and the most is 1 - this: no share rules anything out


def new_candidates(table: CandidateTable) -> Flags:
    """Which candidates of forms that annotated text lacks are new entities.

    Args:
        table: with "seen", "popularity", "edit" and "name" of FEATURES.

    Returns:
        (n, k); all False for a form that annotated text has.
    """
    features, filled = table.features, table.filled
    is_new = filled & (features["popularity"] <= 0) & (features["seen"] <= 0)
    rows = np.flatnonzero(is_new.any(axis=1))
    if not len(rows):
        return is_new
    edit, name = features["edit"][rows], np.round(features["name"][rows], 4)
    is_known = filled[rows] & ~is_new[rows]
    # the most similar spelling first, then the nearest name; of equals an annotated one
    order = np.lexsort((~is_known, -name, -edit))
    of_known = np.where(np.take_along_axis(is_known, order, axis=1), np.take_along_axis(name, order, axis=1), -np.inf)
    nearest_before = np.maximum.accumulate(of_known, axis=1)
    has_twin = np.zeros_like(is_known)
    np.put_along_axis(has_twin, order, nearest_before >= np.take_along_axis(name, order, axis=1), axis=1)
    is_new[rows] &= ~has_twin
    return is_new


def share_of_new(table: CandidateTable, scores: Scores) -> Floats:
    """P(new entity) of each mention by its scores.

    Args:
        table: the candidates of n mentions.
        scores: (n, k), shares of their mention.

    Returns:
        (n,); NaN where annotated text has the form, or there is no candidate: such a mention says nothing.
    """
    counts = table.has_candidates & ~((table.features["seen"] > 0) & table.filled).any(axis=1)
    return np.where(counts, np.where(new_candidates(table), scores, 0.0).sum(axis=1), np.nan)


def share_at_home(queries: Sequence[MentionQuery], table: CandidateTable, scores: Scores) -> float | None:
    """The share of new entities in the text that scores are fitted on.

    Args:
        queries: its n mentions.
        table: their candidates.
        scores: (n, k), shares of their mention.

    Returns:
        None where all entities are new, or none is: nothing can be shifted then.
    """
    firsts = [first for forms in forms_by_document(queries) for first, *_ in forms.values()]
    shares = share_of_new(table.take(np.array(firsts)), scores[firsts])
    known = shares[~np.isnan(shares)]
    share = float(known.mean()) if len(known) else 0.0
    return share if _LEAST < share < 1.0 - _LEAST else None


def estimate_share(shares: Floats, home: float, *, in_advance: float = _IN_ADVANCE) -> float:
    """The share of new entities in a text.

    Args:
        shares: (n,), from ``share_of_new``, by scores that take it to be ``home``.
        home: the share in the text that the scores were fitted on, between 0 and 1.
        in_advance: mentions that ``home`` counts for.

    Returns:
        The estimate, at the fixed point of expectation-maximisation.
    """
    shares = np.clip(shares[~np.isnan(shares)], 0.0, 1.0)
    share = home
    for _ in range(_ROUNDS):
        new, known = shares * share / home, (1.0 - shares) * (1.0 - share) / (1.0 - home)
        expected = new / np.maximum(new + known, 1e-12)
        before, share = share, float((expected.sum() + in_advance * home) / (len(shares) + in_advance))
        if abs(share - before) < _CLOSE:
            break
    return float(np.clip(share, _LEAST, 1.0 - _LEAST))


def shares_by_document(queries: Sequence[MentionQuery], shares: Floats, home: float) -> Floats:
    """The share of new entities in the document of each mention.

    Args:
        queries: n mentions, all of their documents.
        shares: (n,), from ``share_of_new``.
        home: the share in the text that the scores were fitted on.

    Returns:
        (n,).
    """
    estimated = np.full(len(queries), home)
    for numbers in forms_by_document(queries):
        of_forms = list(numbers.values())
        share = estimate_share(shares[[first for first, *_ in of_forms]], home)
        estimated[[number for of_form in of_forms for number in of_form]] = share
    return estimated


def forms_by_document(queries: Sequence[MentionQuery]) -> list[dict[str, list[int]]]:
    """For each document its distinct surface forms, and which mentions have them: a form that a document repeats
    says nothing new, nor does a copy of the document."""
    documents: dict[str, dict[str, list[int]]] = {}
    for number, query in enumerate(queries):
        forms = documents.setdefault(query.text if query.document is None else query.document, {})
        forms.setdefault(query.form, []).append(number)
    return list(documents.values())


def log_odds(shares: Floats, home: float) -> Floats:
    """(n,), what the log odds of new entities are above those at home."""
    return np.log(shares / home) - np.log((1.0 - shares) / (1.0 - home))  # type: ignore[no-any-return]


def shift(table: CandidateTable, scores: Scores, odds: Floats) -> Scores:
    """Scores for another share of new entities.

    Args:
        table: the candidates of n mentions.
        scores: (n, k), shares of their mention.
        odds: (n,), from ``log_odds``.

    Returns:
        (n, k), which sum to 1; the same scores where nothing is to be shifted.
    """
    is_new = new_candidates(table)
    rows = np.flatnonzero(is_new.any(axis=1) & (np.abs(odds) > _CLOSE))
    if not len(rows):
        return scores
    filled = table.filled[rows]
    with np.errstate(divide="ignore"):  # the log of a share of 0
        logits = np.log(np.where(filled, scores[rows], 0.0).astype(np.float64))
    moved = softmax(logits + np.where(is_new[rows], odds[rows, None], 0.0))
    shifted = scores.copy()
    shifted[rows] = np.where(filled, moved, -np.inf)
    return shifted
