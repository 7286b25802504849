"""Calibration error and Brier score by hand, and recall over all classes with NIL."""

import numpy as np
import pytest

from spacy_pel.evaluation import Outcomes, compute_metrics
from spacy_pel.evaluation.figures import reliability_figure, save_figure
from spacy_pel.evaluation.metrics.all_metrics import recall_all_at
from spacy_pel.evaluation.metrics.probabilities import reliability_curve, reliability_metrics

from ..conftest import predicted


def test_curve_by_hand():
    scores = np.asarray([0.0, 0.1, 0.4, 0.45, 1.0])
    truth = np.asarray([False, True, False, True, True])
    curve = reliability_curve(scores, truth, n_bins=2)
    # bins [0, 0.5) and [0.5, 1]: mean 0.2375 against 2/4, 1 against 1
    assert curve.probability == pytest.approx([0.2375, 1.0])
    assert curve.share == pytest.approx([0.5, 1.0]) and curve.n.tolist() == [4, 1]
    assert curve.error == pytest.approx(4 / 5 * 0.2625)
    # a bin's lower edge belongs to it
    assert reliability_curve(np.asarray([0.5]), np.asarray([True]), n_bins=2).probability == [0.5]
    assert len(reliability_curve(np.asarray([0.5, 0.49]), np.asarray([True, True]), n_bins=2).n) == 2


def test_metrics_by_hand():
    scores = np.asarray([0.1, 0.1, 0.9, 0.9])
    found = reliability_metrics(scores, np.asarray([False, False, True, False]))
    assert found["nil_ece"] == pytest.approx(0.5 * 0.1 + 0.5 * 0.4)
    assert found["nil_brier"] == pytest.approx((0.01 + 0.01 + 0.01 + 0.81) / 4)
    assert found["nil_reliability"] == [[pytest.approx(0.1), 0.0, 2], [pytest.approx(0.9), 0.5, 2]]


@pytest.mark.parametrize("scores", [[], [1.2, 0.1], [-0.1, 0.1], [np.nan, 0.1]])
def test_what_is_no_probability_has_no_error(scores, tmp_path):
    scores = np.asarray(scores, dtype=np.float64)
    truth = np.zeros(len(scores), dtype=bool)
    empty = {"nil_ece": None, "nil_brier": None, "nil_reliability": []}
    assert reliability_metrics(scores, truth) == empty
    outcomes = Outcomes.of([]) if not len(scores) else Outcomes.of(nil(s, False) for s in scores)
    save_figure(*reliability_figure({"run": outcomes}), tmp_path / "r.png")
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")


def nil(score, is_nil, *, called=False, rank=0):
    return predicted([] if is_nil else ["gold"], None, "NIL" if called else None, nil=score, rank=rank)


def test_recall_over_all_classes_by_hand():
    table = [
        nil(0.9, True, called=True),  # right at every k
        nil(0.2, True),  # NIL, but an id was given: wrong at every k
        nil(0.9, False, called=True, rank=1),  # called NIL: wrong at every k, wherever the entity stands
        nil(0.1, False, rank=1),  # right from 1 on
        nil(0.1, False, rank=3),  # right from 3 on
        nil(0.1, False, rank=64),
        nil(0.1, False),  # never
    ]
    outcomes = Outcomes.of(table)
    hits = {1: 2, 2: 2, 3: 3, 63: 3, 64: 4}
    assert {k: recall_all_at(outcomes, k) * 7 for k in hits} == pytest.approx(hits)
    metrics = compute_metrics(outcomes, n_samples=5)
    assert metrics["recall_all@1"] == metrics["accuracy"] == pytest.approx(2 / 7)
    assert metrics["recall_all@64"] == pytest.approx(4 / 7)
    assert metrics["recall@64"] == pytest.approx(4 / 5)  # of the mentions in the KB, whatever the decision
    assert recall_all_at(Outcomes.of([]), 1) == 0.0
