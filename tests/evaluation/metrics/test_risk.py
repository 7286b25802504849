"""Coverage at an accuracy and the area under the risk-coverage curve, by hand."""

import numpy as np
import pytest

from spacy_pel.evaluation import Outcomes, compute_metrics
from spacy_pel.evaluation.metrics.probabilities import RankedAnswers

from ..conftest import predicted

NONE = np.nan


@pytest.mark.parametrize(
    ("probabilities", "right", "accuracy", "coverage"),
    [
        ([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 1], 0.75, 1.0),
        ([0.9, 0.8, 0.7, 0.6], [1, 1, 0, 1], 0.8, 0.5),
        ([0.6, 0.7, 0.9, 0.8], [1, 0, 1, 1], 0.8, 0.5),  # in any order
        ([0.9, 0.8, 0.7, 0.6], [0, 1, 1, 1], 0.75, 1.0),  # the largest share, though the first answer is wrong
        ([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 0], 0.75, 0.0),
        ([0.9, 0.9, 0.9, 0.6], [1, 1, 0, 0], 0.95, 0.0),  # equal probabilities are kept together
        ([0.9, NONE, 0.5, NONE], [1, 0, 1, 0], 0.95, 0.5),  # a share of all mentions
        ([0.9, 0.8, NONE, NONE], [1, 1, 1, 1], 0.95, 0.5),  # what has no answer is not kept
        ([0.9] * 20, [1] * 19 + [0], 0.95, 1.0),  # exactly
    ],
)
def test_coverage(probabilities, right, accuracy, coverage):
    answers = RankedAnswers(np.array(probabilities, float), np.array(right, bool))
    assert answers.coverage_at(accuracy) == pytest.approx(coverage)
    twice = RankedAnswers(np.repeat(probabilities, 2).astype(float), np.repeat(right, 2).astype(bool))
    assert twice.coverage_at(accuracy) == pytest.approx(coverage)
    weights = np.array([3.0] * len(right))
    assert answers.coverage_at(accuracy, weights) == pytest.approx(coverage)


def test_a_weight_of_0_leaves_a_mention_out():
    answers = RankedAnswers(np.array([0.9, 0.8, 0.7]), np.array([True, False, True]))
    assert answers.coverage_at(0.9) == pytest.approx(1 / 3)
    assert answers.coverage_at(0.9, np.array([1.0, 0.0, 1.0])) == 1.0


def test_area():
    answers = RankedAnswers(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, True]))
    assert answers.area() == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    unanswered = RankedAnswers(np.array([0.9, NONE]), np.array([True, False]))
    assert unanswered.area() == pytest.approx(0.5 * 0.5)  # half of the mentions with an answer, half of all wrong
    assert not RankedAnswers(np.array([NONE, NONE]), np.array([True, False]))


def test_expected_coverage():
    """With P(right) in place of what is right."""
    probability = np.array([0.99, 0.97, 0.95, 0.5])
    assert RankedAnswers(probability, probability).coverage_at(0.97) == 0.75


def test_intervals_draw_documents():
    rng = np.random.default_rng(0)
    made = [
        predicted(["A"], "AB" if rng.random() < p else "BA", doc=f"d{i // 4}", probability=float(p))
        for i, p in enumerate(rng.uniform(0.7, 1.0, 400))
    ]
    metrics = compute_metrics(Outcomes.of(made), n_samples=100)
    for key in ("coverage@95", "coverage@98"):
        assert metrics[f"{key}_low"] < metrics[f"{key}_high"] and metrics[f"{key}_low"] <= metrics[key]
    assert metrics["coverage@98"] < metrics["coverage@95"] < 1 and 0 < metrics["aurc"] < 0.15
    assert compute_metrics(Outcomes.of(made), n_samples=100) == metrics


def test_without_probabilities_there_is_no_coverage():
    metrics = compute_metrics(Outcomes.of([predicted(["A"], "AB")]), n_samples=5)
    assert metrics["coverage@95"] is metrics["coverage@98_low"] is metrics["aurc"] is None
