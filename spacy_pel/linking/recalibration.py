"""Calibrating a linker on a few documents: what may stay, and what the calibration changes on text it has not seen."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from .calibration import Examples
from .confidence import AnswerScores
from .linker import Linker
from .query import Link
from .thresholds import ChooseThreshold, best_f1_threshold

FEW_NIL = 30  # mentions; fewer do not tell where a threshold should be
Refit = Callable[[Linker, Sequence[Examples]], object]


def refit_decision(linker: Linker, examples: Examples, *, choose: ChooseThreshold = best_f1_threshold) -> None:
    """Calibrate P(right) and the sets again, and choose the NIL threshold, if there are enough NIL mentions. The
    weights of the evidence and P(NIL) stay as they are.

    Nothing that scores these mentions was fitted on them, so no cross-fitting is needed.

    Args:
        linker: calibrated; is changed.
        examples: annotated mentions.
        choose: takes nil_scores and which are NIL, gives the threshold.
    """
    decider, table = linker.decider, examples.table
    scores = decider.rank(examples.kb, examples.queries, table)
    nil_scores = decider.nil_scores(examples.kb, examples.queries, table, scores)
    if examples.is_nil.sum() >= FEW_NIL:
        decider.calibrated_threshold, decider.calibrated_by_label = choose(nil_scores, examples.is_nil), {}
    decider.calibrated_in_context = linker.reads_context
    answers = AnswerScores(scores, nil_scores)
    decider.confidence.fit(table, answers, examples.gold, examples.queries, composite=examples.composite, rescale=True)


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
    decider, fitted = linker.decider, copy.copy(linker)
    parts = {name: copy.deepcopy(getattr(decider, name)) for name in ("combiner", "nil_model", "confidence")}
    # a reranker has two weights, and a model that stays
    fitted.decider = replace(decider, **parts, reranker=copy.copy(decider.reranker))
    return fitted
