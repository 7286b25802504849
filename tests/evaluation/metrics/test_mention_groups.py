"""Groups of mentions and their metrics, by hand."""

from spacy_pel.evaluation import Outcomes, Prediction
from spacy_pel.evaluation.metrics.mention_groups import GROUPINGS, MentionGroups, group_rows


def predicted(label, gold, candidates, kb_id, *, types=(), seen=False):
    ranked = [(entity_id, 0.5) for entity_id in candidates]
    return Prediction("d", 0, 1, "x", label, gold, kb_id, ranked, types=list(types), seen=seen)


PREDICTIONS = [
    predicted("Chemical", ["A"], "AB", "A", types=["T1", "T2"], seen=True),
    predicted("Chemical", ["B"], "AB", "A", types=["T1"]),
    predicted("Chemical", [], "AB", "NIL"),
    predicted("Disease", ["Z"], "AB", "NIL", types=["T2"], seen=True),
    predicted("", [], "AB", "A"),
]


def table(grouping):
    groups = MentionGroups(GROUPINGS[grouping])
    for prediction in PREDICTIONS:
        groups.add(prediction)
    return [tuple(row) for row in group_rows(Outcomes.of(PREDICTIONS), groups.masks())]


def test_by_label():
    assert table("label") == [
        ("Chemical", 3, 1, 0.5, 1.0, 2 / 3),
        ("Disease", 1, 0, 0.0, 0.0, 0.0),
        ("–", 1, 1, None, None, 0.0),
    ]


def test_by_kb_type_counts_a_mention_in_each_of_its_types():
    assert table("type") == [("T1", 2, 0, 0.5, 1.0, 0.5), ("T2", 2, 0, 0.5, 0.5, 0.5), ("–", 2, 2, None, None, 0.5)]


def test_by_seen():
    assert [(row[0], row[1]) for row in table("seen")] == [("NIL", 2), ("seen", 2), ("unseen", 1)]
