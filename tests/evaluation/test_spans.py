"""End-to-end scores by hand."""

import pytest

from spacy_pel.evaluation.prediction import Prediction
from spacy_pel.evaluation.spans import SpanCounts


def test_strict_offsets_and_ids():
    gold = [Prediction("d", start, start + 4, "x", "", ids, "") for start, ids in ((0, ["A"]), (10, ["B"]), (20, []))]
    found = [
        ("d", 0, 4, "A"),  # right
        ("d", 10, 15, "B"),  # one character too long: no hit
        ("d", 20, 24, "NIL"),  # offsets right, NIL gives no credit
        ("d", 30, 34, "C"),  # no mention there
    ]
    counts = SpanCounts()
    counts.add(found, gold)
    scores = counts.scores()
    assert scores["mention_precision"] == 2 / 4
    assert scores["mention_recall"] == pytest.approx(2 / 3)
    assert scores["mention_f1"] == pytest.approx(4 / 7)
    assert scores["link_precision"] == pytest.approx(1 / 3)  # of the three linked to the KB
    assert scores["link_recall"] == pytest.approx(1 / 2)  # of the two gold ones in the KB
    assert scores["link_f1"] == pytest.approx(2 / 5)
    assert set(SpanCounts().scores().values()) == {0.0}
