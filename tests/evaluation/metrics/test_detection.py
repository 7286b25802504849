"""Scores of mentions found end to end: offsets, types and links."""

import pytest

from spacy_pel.evaluation.metrics.detection import Detection, Found
from spacy_pel.evaluation.outcomes import Prediction


def gold(start: int, label: str = "", ids: tuple[str, ...] = ()) -> Prediction:
    return Prediction("d", start, start + 4, "x", label, list(ids), "")


def found(start: int, label: str, kb_id: str = "NIL") -> Found:
    return Found(start, start + 4, label, kb_id)


def scores(found_labels: list[str], gold_labels: list[str]) -> dict:
    """Both mark the same offsets."""
    detection = Detection()
    predicted = [found(10 * number, label) for number, label in enumerate(found_labels)]
    detection.add("d", predicted, [gold(10 * number, label) for number, label in enumerate(gold_labels)])
    return detection.scores(n_samples=10)


def test_offsets_and_links_by_hand():
    detection = Detection()
    predicted = [
        found(0, "", "A"),  # right
        Found(10, 15, "", "B"),  # one character too long: no hit
        found(20, ""),  # offsets right, NIL gives no credit
        found(30, "", "C"),  # no mention there
    ]
    detection.add("d", predicted, [gold(0, "", ["A"]), gold(10, "", ["B"]), gold(20)])
    scores = detection.scores()
    assert scores["mention_precision"] == 2 / 4
    assert scores["mention_recall"] == pytest.approx(2 / 3)
    assert scores["mention_f1"] == pytest.approx(4 / 7)
    assert scores["link_precision"] == pytest.approx(1 / 3)  # of the three linked to the KB
    assert scores["link_recall"] == pytest.approx(1 / 2)  # of the two gold ones in the KB
    assert scores["link_f1"] == pytest.approx(2 / 5)
    assert scores["link_f1_low"] == scores["link_f1_high"] == pytest.approx(2 / 5)  # there is one document
    assert "typed_f1" not in scores  # there is one label
    assert set(Detection().scores().values()) == {0.0}


def test_types_by_hand():
    detection = Detection()
    predicted = [
        found(0, "BIOLOGIC_FUNCTION"),
        found(10, "FINDING"),  # offsets right, type wrong
        found(20, "CHEMICAL"),
        found(30, "CHEMICAL"),  # no mention there
    ]
    detection.add("d", predicted, [gold(0, "T047"), gold(10, "T038"), gold(20, "T103"), gold(40, "T033")])
    scores = detection.scores()
    assert scores["mention_f1"] == pytest.approx(6 / 8)
    assert (scores["typed_precision"], scores["typed_recall"], scores["typed_f1"]) == (2 / 4, 2 / 4, 2 / 4)
    assert scores["type_accuracy"] == pytest.approx(2 / 3)
    rows = scores["mention_types"]
    assert list(rows) == ["BIOLOGIC_FUNCTION", "CHEMICAL", "FINDING"]
    one = {"n_gold": 2, "n_found": 1, "typed_precision": 1.0, "typed_recall": 0.5, "typed_f1": pytest.approx(2 / 3)}
    assert rows["BIOLOGIC_FUNCTION"] == one
    assert rows["CHEMICAL"]["typed_precision"] == 0.5 and rows["CHEMICAL"]["typed_recall"] == 1.0
    assert rows["FINDING"]["typed_f1"] == 0.0


def test_intervals_draw_documents():
    detection = Detection()
    for number in range(20):
        kind = "CHEMICAL" if number % 2 else "VIRUS"
        detection.add(f"d{number}", [found(0, kind)], [gold(0, "T103"), gold(10, "T005")])
    scores = detection.scores()
    assert [scores["mention_f1_low"], scores["mention_f1_high"]] == pytest.approx([scores["mention_f1"]] * 2)
    assert scores["typed_f1"] == pytest.approx(1 / 3)
    assert scores["typed_f1_low"] < 1 / 3 < scores["typed_f1_high"]
    assert scores == detection.scores()


@pytest.mark.parametrize(
    ("found_labels", "gold_labels", "accuracy"),
    [
        (["CHEMICAL", "FINDING"], ["T121", "T184"], 1.0),  # ids of types below those of ST21pv
        (["VIRUS", "VIRUS"], ["T103", "T033"], 0.0),
        (["Chemical", "Disease"], ["Chemical", "Disease"], 1.0),
        (["Chemical", "Disease", "Gene"], ["Chemical", "Disease", "Disease"], 2 / 3),
        (["CHEMICAL", "CHEMICAL"], ["Chemical", "Disease"], 0.5),
        (["ENTITY", "ENTITY"], ["T103", "T033"], None),  # the detector has no types
        (["CHEMICAL", "FINDING"], ["ENTITY", "ENTITY"], None),  # the corpus has none
        (["ENTITY", "ENTITY"], ["ENTITY", "ENTITY"], None),
        (["CHEMICAL", "FINDING"], ["Chemical", "Disease"], None),  # two schemes
        (["DISORDER", "PHYSIOLOGY"], ["T038", "T033"], None),  # groups
    ],
)
def test_labels_that_can_be_compared(found_labels, gold_labels, accuracy):
    assert scores(found_labels, gold_labels).get("type_accuracy") == accuracy
