"""From scored candidates to answers: an entity or NIL, and how far to trust it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..abbreviations.undefined import trust_in_short_forms
from ..index.annotated_text import AliasPriors
from ..kb import KnowledgeBase
from ..types import NIL, CandidateTable, Floats, Rows, Scores
from ..util.arrays import best_first
from .confidence import DEPTH, prediction_set
from .corrections.matching import MemoryMatches
from .decider import Decider, Threshold
from .mention_types import labels_after_linking
from .query import Link, MentionQuery


@dataclass(frozen=True)
class Ranked:
    """Mentions and their candidates with final scores.

    Attributes:
        queries: (n,).
        table: their candidates.
        scores: (n, k).
        nil_scores: (n,).
        matches: learned mentions that decide; None = nothing is learned.
    """

    queries: Sequence[MentionQuery]
    table: CandidateTable
    scores: Scores
    nil_scores: Scores
    matches: MemoryMatches | None = None


@dataclass(frozen=True)
class Decisions:
    """The answers for n mentions, an attribute of ``Link`` each; ``thresholds`` are infinite where there is none."""

    is_nil: list[bool]
    nil_scores: list[float]
    ids: list[list[str]]
    scores: list[list[float]]
    probabilities: list[float]
    id_sets: list[list[str]] | None
    learned: list[int | None] | None
    thresholds: list[float]
    labels: list[str | None]

    def link(self, number: int) -> Link:
        """The answer for a mention."""
        threshold = self.thresholds[number]
        return Link(
            kb_id=NIL if self.is_nil[number] else self.ids[number][0],
            nil_score=self.nil_scores[number],
            ids=self.ids[number],
            scores=self.scores[number],
            probability=self.probabilities[number],
            id_set=None if self.id_sets is None else self.id_sets[number],
            learned=None if self.learned is None else self.learned[number],
            threshold=None if np.isinf(threshold) else threshold,
            label=self.labels[number],
        )

    def links(self) -> list[Link]:
        """The answer for each mention."""
        return list(map(self.link, range(len(self.is_nil))))


def decide(
    kb: KnowledgeBase,
    decider: Decider,
    ranked: Ranked,
    *,
    top_k: int,
    threshold: Threshold,
    coverage: float | None,
    priors: AliasPriors | None,
    entries: Rows | None,
) -> Decisions:
    """Decide between the best candidate and NIL.

    Args:
        kb: the entities.
        decider: with the calibration.
        ranked: n mentions with their candidates.
        top_k: candidates returned for each mention.
        threshold: the setting; None = the calibrated one.
        coverage: how often a set has to hold the right answer; None = no sets.
        priors: counts of annotated text; None = there is none.
        entries: ids of the learned mentions, for ``ranked.matches``.
    """
    queries, table, matches = ranked.queries, ranked.table, ranked.matches
    shares = decider.shares(table, ranked.scores)
    thresholds = decider.thresholds(queries, table, shares, threshold)
    is_nil = (ranked.nil_scores > thresholds) | ~table.has_candidates
    forms = [query.form for query in queries]
    of_link, of_nil = decider.confidence.probabilities(table, shares, np.clip(ranked.nil_scores, 0.0, 1.0), forms)
    if priors and decider.confidence.is_fitted:
        first = table.kb_rows[np.arange(len(queries)), ranked.scores.argmax(axis=1)]
        bounds = trust_in_short_forms(kb, priors, forms, first)
        of_link = np.minimum(of_link, bounds if matches is None else np.where(matches.decided, 1.0, bounds))
    learned = None
    if matches is not None and entries is not None:
        is_nil = np.where(matches.decided, ~matches.linked, is_nil)
        learned = [None if number < 0 else int(entries[number]) for number in matches.which.tolist()]
    # best first; ties keep the table's order; only what is returned becomes objects
    order = best_first(ranked.scores)
    ids, scores = _ids_and_scores(kb, table, ranked.scores, order[:, :top_k])
    return Decisions(
        is_nil=is_nil.tolist(),
        nil_scores=ranked.nil_scores.tolist(),
        ids=ids,
        scores=scores,
        probabilities=np.where(is_nil, of_nil, of_link).tolist(),
        id_sets=_id_sets(kb, decider, ranked, shares, order[:, :DEPTH], coverage),
        learned=learned,
        thresholds=thresholds.tolist(),
        labels=labels_after_linking(kb, queries, table.kb_rows, shares),
    )


def _ids_and_scores(
    kb: KnowledgeBase, table: CandidateTable, scores: Scores | Floats, order: NDArray[np.int64]
) -> tuple[list[list[str]], list[list[float]]]:
    """For each mention the ids of its candidates at the columns ``order``, and their scores."""
    kb_rows = np.take_along_axis(table.kb_rows, order, axis=1)
    rows, which = np.unique(kb_rows[kb_rows >= 0], return_inverse=True)
    ids = np.array(kb.ids_at(rows), dtype=object)[which].tolist()
    ordered = np.take_along_axis(scores, order, axis=1).tolist()
    ends = np.cumsum((kb_rows >= 0).sum(axis=1)).tolist()
    pieces = list(zip([0, *ends[:-1]], ends, strict=True))
    return (
        [ids[start:end] for start, end in pieces],
        [row[: end - start] for row, (start, end) in zip(ordered, pieces, strict=True)],
    )


def _id_sets(
    kb: KnowledgeBase,
    decider: Decider,
    ranked: Ranked,
    shares: Floats,
    order: NDArray[np.int64],
    coverage: float | None,
) -> list[list[str]] | None:
    """The prediction set of each mention; None without ``coverage`` or calibration."""
    confidence = decider.confidence
    if coverage is None or not confidence.is_fitted:
        return None
    minimum = {label: confidence.minimum(coverage, label) for label in {query.label for query in ranked.queries}}
    ids, ordered = _ids_and_scores(kb, ranked.table, shares, order)
    nil = np.clip(ranked.nil_scores, 0.0, 1.0).tolist()
    return [prediction_set(ids[i], ordered[i], nil[i], minimum[query.label]) for i, query in enumerate(ranked.queries)]
