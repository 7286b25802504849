"""Are P(NIL) and P(right) what happens? Reliability and its error, what a calibration changed, and risk and coverage:
how many answers can be kept at a given accuracy (El-Yaniv and Wiener 2010)."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..outcomes import Flags, Floats, Outcomes
from .bootstrap import Metric, Numbers, document_draws, metric_difference, percentiles

N_BINS = 15


class Reliability(NamedTuple):
    """A reliability curve: one entry per bin that holds mentions.

    probability: (b,) float64, mean P(NIL) of the bin's mentions.
    share: (b,) float64, share of the bin's mentions that are NIL.
    n: (b,) int64, number of mentions.
    """

    probability: Floats
    share: Floats
    n: Numbers

    @property
    def error(self) -> float:
        """The expected calibration error: the distance of probability and share,
        averaged over all mentions (Naeini et al. 2015; Guo et al. 2017, Eq. 3)."""
        return float(np.sum(self.n * np.abs(self.probability - self.share)) / self.n.sum())


# By hand, since scikit-learn's calibration_curve gives no counts, which the calibration error needs, and
# puts a score at the edge of two bins into the lower one.


def reliability_curve(scores: Floats, truth: Flags, n_bins: int = N_BINS) -> Reliability | None:
    """Compare probabilities with outcomes, in bins of equal width; a bin's lower edge belongs to it.

    Args:
        scores: (n,).
        truth: (n,).
        n_bins: number of bins between 0 and 1.

    Returns:
        None if there are no scores, or one is NaN, below 0 or above 1 and thus
        not a probability.
    """
    if not len(scores) or not (scores.min() >= 0.0 and scores.max() <= 1.0):
        return None
    bins = np.minimum((scores * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(bins, minlength=n_bins)
    filled = n > 0
    probability = np.bincount(bins, weights=scores, minlength=n_bins)[filled] / n[filled]
    share = np.bincount(bins, weights=truth.astype(np.float64), minlength=n_bins)[filled] / n[filled]
    return Reliability(probability, share, n[filled])


def reliability_metrics(scores: Floats, truth: Flags) -> dict[str, Any]:
    """ "nil_ece", "nil_brier" (the mean squared distance) and
    "nil_reliability", the curve's points as [probability, share, mentions]; None, None and []
    where the scores are not probabilities."""
    curve = reliability_curve(scores, truth)
    if curve is None:
        return {"nil_ece": None, "nil_brier": None, "nil_reliability": []}
    points: list[list[float]] = [[float(p), float(share), int(n)] for p, share, n in zip(*curve, strict=True)]
    return {"nil_ece": curve.error, "nil_brier": float(np.mean((scores - truth) ** 2)), "nil_reliability": points}


ACCURACIES = (95, 98)  # percent
_COVERAGES = {f"coverage@{percent}": percent / 100 for percent in ACCURACIES}
_TOLERANCE = 1e-9  # of a share that is computed as a sum


class RiskCurve(NamedTuple):
    """A point per distinct P(right), highest first.

    coverage: (m,), share of all mentions whose answer has at least this P(right).
    accuracy: (m,), share of these answers that are right.
    """

    coverage: Floats
    accuracy: Floats


class RankedAnswers:
    """Answers from the most certain down, sorted once for all samples of a bootstrap.

    Args:
        probability: (n,), P(right); NaN = no answer.
        right: (n,), 1 or True = the answer is right; P(right) itself gives what is to be expected.
    """

    def __init__(self, probability: Floats, right: Flags | Floats):
        self._order = np.argsort(-probability, kind="stable")  # NaN last
        ranked = probability[self._order]
        is_answer = ~np.isnan(ranked)
        self._right = np.where(is_answer, right[self._order], 0.0)
        # equal probabilities are kept or dropped together
        is_last = np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)]
        self._last = np.flatnonzero(is_last & is_answer)

    def __bool__(self) -> bool:
        """Whether there is any answer."""
        return len(self._last) > 0

    def curve(self, weights: Floats | None = None) -> RiskCurve:
        """Args:
        weights: (n,), e.g. how often a bootstrap sample drew each mention.
        """
        weight = np.ones(len(self._order)) if weights is None else weights[self._order]
        kept, hits = np.cumsum(weight), np.cumsum(weight * self._right)
        n = max(kept[-1], 1e-12) if len(kept) else 1.0
        kept, hits = kept[self._last], hits[self._last]
        return RiskCurve(kept / n, hits / np.maximum(kept, 1e-12))

    def coverage_at(self, accuracy: float, weights: Floats | None = None) -> float:
        """The largest share of the mentions that, taken from the most certain answer down, reaches an accuracy.

        The largest, not the first: that the one most certain answer is wrong does not make it 0, and that a few are
        right by chance is not enough.

        Returns:
            0 if no share reaches it.
        """
        curve = self.curve(weights)
        reached = curve.coverage[curve.accuracy >= accuracy - _TOLERANCE]
        return float(reached[-1]) if len(reached) else 0.0

    def area(self) -> float:
        """Area under the curve of risk, the share of wrong answers, over coverage. Mentions without an answer come last
        and count as wrong, as in ``accuracy``."""
        curve = self.curve()
        n_answers = curve.coverage[-1]
        area = np.sum(np.diff(curve.coverage, prepend=0.0) * (1.0 - curve.accuracy))
        return float(area + (1.0 - n_answers) * (1.0 - n_answers * curve.accuracy[-1]))


def coverages(answers: RankedAnswers) -> dict[str, float | None]:
    """ "coverage@95" and "coverage@98", see ``RankedAnswers.coverage_at``; None if there is no answer."""
    return {key: answers.coverage_at(share) if answers else None for key, share in _COVERAGES.items()}


def coverage_intervals(
    answers: RankedAnswers, document: Numbers, *, n_samples: int, rng: np.random.Generator
) -> dict[str, float | None]:
    """The 95% bootstrap intervals of ``coverages``, by "coverage@95_low" and so on.

    Args:
        answers: of n mentions.
        document: (n,), the document of each mention.
        n_samples: bootstrap samples.
        rng: makes the draws.
    """
    if not answers:
        return {f"{key}_{end}": None for key in _COVERAGES for end in ("low", "high")}
    numbers = np.unique(document, return_inverse=True)[1]
    draws = (draw for block in document_draws(int(numbers.max()) + 1, n_samples, rng) for draw in block)
    samples = np.array([[answers.coverage_at(share, draw[numbers]) for share in _COVERAGES.values()] for draw in draws])
    intervals = {key: percentiles(samples[:, column]) for column, key in enumerate(_COVERAGES)}
    return {f"{key}_{end}": pair[i] for key, pair in intervals.items() for i, end in enumerate(("low", "high"))}


_SAMPLES = 1000


def calibration_change(before: Outcomes, after: Outcomes) -> dict[str, dict[str, Any] | None]:
    """Compare the same mentions before and after.

    Args:
        before, after: of the same mentions.

    Returns:
        "accuracy", "nil_ece" and "answer_ece", each with "before", "after", "change", and "low" and "high", its 95%
        bootstrap interval over documents; None where there are no probabilities.
    """
    metrics: dict[str, Callable[[Outcomes], Metric | None]] = {
        "accuracy": lambda one: partial(_mean, one.correct.astype(np.float64)),
        "nil_ece": lambda one: _calibration_error(one.nil_score, one.is_nil),
        "answer_ece": lambda one: _calibration_error(one.probability, one.correct),
    }
    changes: dict[str, dict[str, Any] | None] = dict.fromkeys(metrics)
    for name, metric_of in metrics.items():
        of_before, of_after = metric_of(before), metric_of(after)
        if of_before and of_after:
            rng = np.random.default_rng(0)
            found = metric_difference(of_before, of_after, before.document, n_samples=_SAMPLES, rng=rng)
            changes[name] = dict(zip(("before", "after", "change", "low", "high"), found, strict=True))
    return changes


def _mean(values: Floats, weights: Floats) -> float:
    return float(weights @ values / max(weights.sum(), 1e-12))


def _calibration_error(scores: Floats, truth: Flags) -> Metric | None:
    """``Reliability.error``, of weighted mentions."""
    if reliability_curve(scores, truth) is None:
        return None
    bins = np.minimum((scores * N_BINS).astype(np.int64), N_BINS - 1)
    gaps = scores - truth
    return lambda weights: float(np.abs(np.bincount(bins, weights * gaps)).sum() / max(weights.sum(), 1e-12))
