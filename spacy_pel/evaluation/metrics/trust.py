"""Are P(right) and the coverage of sets what they claim to be?"""

from typing import Any

import numpy as np

from .outcomes import Outcomes
from .reliability import reliability_metrics


def trust_metrics(outcomes: Outcomes) -> dict[str, Any]:
    """Compare P(right) of the answers, and the rate at which sets hold the right answer, with what happened.

    Args:
        outcomes: of all mentions; those without an answer have no P(right) and are left out.

    Returns:
        "answer_ece", the expected calibration error of P(right) over 15 bins, and
        "answer_brier"; "set_coverage", the share of sets that hold the right answer, and "set_size",
        the mean number of answers in a set. None where there is nothing to measure.
    """
    metrics: dict[str, Any] = dict.fromkeys(("answer_ece", "answer_brier", "set_coverage", "set_size"))
    linked = ~np.isnan(outcomes.probability)
    found = reliability_metrics(outcomes.probability[linked], outcomes.correct[linked])
    metrics["answer_ece"], metrics["answer_brier"] = found["nil_ece"], found["nil_brier"]
    has_set = outcomes.set_size > 0
    if has_set.any():
        metrics["set_coverage"] = float(outcomes.covered[has_set].mean())
        metrics["set_size"] = float(outcomes.set_size[has_set].mean())
    return metrics
