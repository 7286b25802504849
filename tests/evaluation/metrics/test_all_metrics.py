"""Metrics against tables computed by hand, and against scikit-learn."""

import numpy as np
import pytest

from spacy_pel.evaluation.metrics.all_metrics import average_precision, compute_metrics, precision_recall_curve
from spacy_pel.evaluation.outcomes import Outcomes, Prediction

from ..conftest import predicted

TABLE = [
    predicted(["A"], "ABCDE", seen=True, nil=0.1),  # rank 1
    predicted(["B"], "ABCDE", seen=True, nil=0.2),  # rank 2
    predicted(["E"], "ABCDE", nil=0.3),  # rank 5
    predicted(["Z"], "ABCDE", nil=0.7, kb_id="NIL"),  # not retrieved, and wrongly called NIL
    predicted(["D", "C"], "ABCDE", nil=0.2),  # any of both: rank 3
    predicted([], "ABCDE", nil=0.9, kb_id="NIL", doc="e"),  # NIL, called so
    predicted([], "ABCDE", nil=0.4, doc="e"),  # NIL, missed
    predicted(["A", "B"], "ABCDE", doc="e", composite=True),  # both by rank 2
    predicted(["A", "Z"], "ABCDE", doc="e", composite=True),  # never both
]


@pytest.mark.parametrize(
    "gold, composite, id_set, covered",
    [
        (["A", "B"], True, ["B", "C", "A"], True),
        (["A", "B"], True, ["A", "NIL"], False),
        (["A", "B"], False, ["B"], True),
        ([], True, ["A"], False),  # the KB has none of its entities: only NIL is right
        ([], True, ["A", "NIL"], True),
        ([], True, None, False),
        ([], False, ["NIL"], True),
        ([], False, ["A"], False),
    ],
)
def test_a_set_covers_the_right_answer(gold, composite, id_set, covered):
    assert predicted(gold, "ABC", composite=composite, id_set=id_set).covered is covered


def test_hand_computed_table():
    metrics = compute_metrics(Outcomes.of(TABLE))
    assert (metrics["n"], metrics["n_nil"], metrics["n_documents"]) == (9, 2, 2)
    # seven mentions in the KB, ranks 1 2 5 - 3 2 -
    expected = {1: 1, 2: 3, 4: 4, 5: 5, 8: 5, 16: 5, 32: 5, 64: 5}
    for k, hits in expected.items():
        assert metrics[f"recall@{k}"] == pytest.approx(hits / 7), k
    assert metrics["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 5 + 0 + 1 / 3 + 1 / 2 + 0) / 7)
    assert metrics["accuracy"] == pytest.approx(2 / 9)  # the first mention and the first NIL
    assert (metrics["nil_precision"], metrics["nil_recall"], metrics["nil_f1"]) == (0.5, 0.5, 0.5)
    assert metrics["nil_share"] == pytest.approx(2 / 9)
    # NIL at places 1 and 3 of the mentions sorted by nil_score
    assert metrics["nil_aupr"] == pytest.approx(0.5 * (1 / 1 + 2 / 3))
    assert (metrics["n_seen"], metrics["accuracy_seen"]) == (2, 0.5)
    assert (metrics["n_unseen"], metrics["accuracy_unseen"]) == (5, 0.0)


def test_average_precision_equals_scikit_learn():
    from sklearn.metrics import average_precision_score

    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = rng.integers(0, 15, 80) / 14  # with equal scores
        truth = rng.random(80) < 0.3
        weights = rng.integers(0, 4, 80).astype(float)
        assert average_precision(scores, truth) == pytest.approx(average_precision_score(truth, scores))
        assert average_precision(scores, truth, weights) == pytest.approx(
            average_precision_score(truth, scores, sample_weight=weights)
        )
    precision, recall, thresholds = precision_recall_curve(np.asarray([0.9, 0.5, 0.5]), np.asarray([True, False, True]))
    assert (precision.tolist(), recall.tolist()) == ([1.0, pytest.approx(2 / 3)], [0.5, 1.0])
    assert thresholds.tolist() == [0.9, 0.5]


def test_intervals_draw_documents():
    """Mentions of a document that stand or fall together give the interval of the documents."""
    rng = np.random.default_rng(0)
    outcome = rng.random(100) < 0.5
    many = [predicted(["A"], "AB" if hit else "BA", doc=str(i)) for i, hit in enumerate(outcome) for _ in range(20)]
    metrics = compute_metrics(Outcomes.of(many), n_samples=2000)
    width = metrics["recall@1_high"] - metrics["recall@1_low"]
    assert width == pytest.approx(2 * 1.96 * 0.05, rel=0.15)  # 100 documents, not 2,000 mentions
    assert metrics["recall@1_low"] < metrics["recall@1"] < metrics["recall@1_high"]
    assert metrics["recall@2_low"] == metrics["recall@2_high"] == 1.0
    assert compute_metrics(Outcomes.of(many), n_samples=2000) == metrics  # same seed, same intervals
    some = [compute_metrics(Outcomes.of(many), n_samples=15, seed=seed)["recall@1_low"] for seed in range(3)]
    assert len(set(some)) > 1


@pytest.mark.parametrize("table", [[], [predicted([], "A", kb_id="NIL", nil=1.0)], [predicted(["A"], "A")]])
def test_unusual_corpora_give_finite_numbers(table):
    metrics = compute_metrics(Outcomes.of(table), n_samples=20)
    assert all(np.isfinite(value) for value in metrics.values() if isinstance(value, (int, float)))
    assert metrics["n"] == len(table)


def test_prediction_round_trip():
    for prediction in TABLE:
        assert Prediction.from_json(prediction.to_json()).rank == prediction.rank
    record = TABLE[0].to_json()
    assert set(record) == {"doc", "start", "end", "text", "label", "gold", "kb_id", "candidates", "nil_score", "seen"}
