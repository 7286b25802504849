"""Calibrating a linker on a few documents: what may stay, and what the calibration changes on text it has not seen."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..types import CandidateTable
from .calibration import Examples
from .confidence import AnswerScores
from .decider import Decider
from .linker import Link, Linker, Scored, Stage
from .nil.thresholds import ChooseThreshold, best_f1_threshold

FEW_NIL = 30  # mentions; fewer do not tell where a threshold should be
Refit = Callable[[Linker, Sequence[Examples]], object]


def refit_decision(linker: Linker, examples: Examples, *, choose: ChooseThreshold = best_f1_threshold) -> None:
    """Calibrate P(right) and the sets again, and choose the NIL threshold, if there are enough NIL mentions. The
    weights of the evidence and P(NIL) stay as they are, and so does the share of new entities at home.

    Nothing that scores these mentions was fitted on them, so no cross-fitting is needed.

    Args:
        linker: calibrated; is changed.
        examples: annotated mentions.
        choose: takes nil_scores and which are NIL, gives the threshold.
    """
    tables: dict[Stage, CandidateTable] = {"context": examples.table}
    if linker.by_form is not linker.in_context and examples.form_table is not None:
        tables["form"] = examples.form_table
    scored = {stage: _scored(linker, stage, examples, table) for stage, table in tables.items()}
    first = scored.get(linker.first_stage, scored["context"])
    shares = linker.new_shares(examples.queries, [first])
    for stage, of_stage in scored.items():
        decider, ranked = linker.decider(stage), linker.ranked(of_stage, shares)
        if examples.is_nil.sum() >= FEW_NIL:
            decider.calibrated_threshold, decider.calibrated_by_label = choose(ranked.nil_scores, examples.is_nil), {}
        answers = AnswerScores(ranked.scores, ranked.nil_scores)
        decider.confidence.fit(
            ranked.table, answers, examples.gold, examples.queries, composite=examples.composite, rescale=True
        )


def _scored(linker: Linker, stage: Stage, examples: Examples, table: CandidateTable) -> Scored:
    scores = linker.decider(stage).rank(examples.kb, examples.queries, table)
    return Scored(stage=stage, queries=examples.queries, table=table, scores=scores)


def cross_fitted_links(linker: Linker, parts: Sequence[Examples], refit: Refit) -> list[Link] | None:
    """Link each fifth of the documents with a copy of a linker that was fitted on the others.

    Args:
        linker: is not changed.
        parts: annotated mentions; those of the first part are linked.
        refit: fits a linker.

    Returns:
        The links of the first part's mentions; None if there are fewer than five documents, or a fifth leaves no
        linkable mention to fit on.
    """
    first, folds = parts[0], parts[0].folds
    links: dict[int, Link] = {}
    numbers = np.unique(folds)
    if len(numbers) < 5 or any((first.is_nil | (folds == number)).all() for number in numbers):
        return None
    for number in numbers.tolist():
        own, fitted = np.flatnonzero(folds == number), fitted_copy(linker)
        refit(fitted, [first.take(np.flatnonzero(folds != number)), *parts[1:]])
        links.update(zip(own.tolist(), fitted.link([first.queries[i] for i in own]), strict=True))
    return [links[i] for i in range(len(first))]


def fitted_copy(linker: Linker) -> Linker:
    """A linker with the same parts that can be fitted while this one stays as it is."""
    other = copy.copy(linker)
    other.in_context = _copy(linker.in_context)
    other.by_form = other.in_context if linker.by_form is linker.in_context else _copy(linker.by_form)
    return other


def _copy(decider: Decider) -> Decider:
    fitted = {name: copy.deepcopy(getattr(decider, name)) for name in ("combiner", "nil_model", "confidence")}
    return replace(decider, **fitted, reranker=copy.copy(decider.reranker))  # two weights, and a model that stays
