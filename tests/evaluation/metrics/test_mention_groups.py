"""Groups of mentions and their metrics, by hand."""

from spacy_pel.evaluation import Outcomes
from spacy_pel.evaluation.metrics.mention_groups import GROUPINGS, MentionGroups, group_metrics

from ..conftest import predicted

PREDICTIONS = [
    predicted(["A"], "AB", "A", label="Chemical", types=["T1", "T2"], seen=True),
    predicted(["B"], "AB", "A", label="Chemical", types=["T1"]),
    predicted([], "AB", "NIL", label="Chemical"),
    predicted(["Z"], "AB", "NIL", label="Disease", types=["T2"], seen=True),
    predicted([], "AB", "A", label=""),
]


def table(grouping):
    groups = MentionGroups(GROUPINGS[grouping])
    for prediction in PREDICTIONS:
        groups.add(prediction)
    return {name: group_metrics(Outcomes.of(PREDICTIONS), mask) for name, mask in groups.masks().items()}


def test_groups():
    assert table("label") == {
        "Chemical": (3, [0.5, 1.0, 2 / 3]),
        "Disease": (1, [0.0, 0.0, 0.0]),
        "–": (1, [None, None, 0.0]),
    }
    # a mention counts in each of its types
    assert table("type") == {"T1": (2, [0.5, 1.0, 0.5]), "T2": (2, [0.5, 0.5, 0.5]), "–": (2, [None, None, 0.5])}
    assert {name: n for name, (n, _) in table("seen").items()} == {"NIL": 2, "seen": 2, "unseen": 1}
