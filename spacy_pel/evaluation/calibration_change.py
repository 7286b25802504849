"""What a calibration changed: accuracy, and how far P(NIL) and P(right) are off, before and after."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .metrics.bootstrap import Metric, metric_difference
from .metrics.outcomes import Flags, Floats, Outcomes
from .metrics.reliability import N_BINS, reliability_curve

_SAMPLES = 1000


def calibration_change(before: Outcomes, after: Outcomes, *, seed: int = 0) -> dict[str, dict[str, Any] | None]:
    """Compare the same mentions before and after.

    Args:
        before, after: of the same mentions.
        seed: random seed of the bootstrap.

    Returns:
        "accuracy", "nil_ece" and "answer_ece", each with "before", "after", "change", and "low" and "high", its 95%
        bootstrap interval over documents; None where there are no probabilities.
    """
    metrics: dict[str, Callable[[Outcomes], Metric | None]] = {
        "accuracy": lambda one: partial(_mean, one.correct.astype(np.float64)),
        "nil_ece": lambda one: _calibration_error(one.nil_score, one.is_nil),
        "answer_ece": lambda one: _calibration_error(one.probability, one.correct),
    }
    changes: dict[str, dict[str, Any] | None] = {}
    for name, metric_of in metrics.items():
        of_before, of_after = metric_of(before), metric_of(after)
        changes[name] = None
        if of_before and of_after:
            rng = np.random.default_rng(seed)
            found = metric_difference(of_before, of_after, before.document, n_samples=_SAMPLES, rng=rng)
            shown = {"before": found.a, "after": found.b, "change": found.difference}
            changes[name] = {**shown, "low": found.low, "high": found.high}
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
