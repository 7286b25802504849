"""Groups of mentions and their metrics, by hand."""

import pytest

from spacy_pel.evaluation import Outcomes
from spacy_pel.evaluation.metrics.groups import GROUPINGS, MentionGroups, group_metrics

from ..conftest import predicted

PREDICTIONS = [
    predicted(["A"], "AB", "A", label="Chemical", types=["T1", "T2"], seen=True, probability=0.9, known_form=True),
    predicted(["B"], "AB", "A", label="Chemical", types=["T1"], probability=0.8, known_form=True),
    predicted([], "AB", "NIL", label="Chemical"),
    predicted(["Z"], "AB", "NIL", label="Disease", types=["T2"], seen=True),
    predicted([], "AB", "A", label=""),
]


def table(grouping):
    groups = MentionGroups(GROUPINGS[grouping])
    for prediction in PREDICTIONS:
        groups.add(prediction)
    found = {name: group_metrics(Outcomes.of(PREDICTIONS), mask) for name, mask in groups.masks().items()}
    return {name: (one["n"], [one[key] for key in ("recall@1", "recall", "accuracy")]) for name, one in found.items()}


def test_groups():
    assert table("label") == {
        "Chemical": (3, [0.5, 1.0, 2 / 3]),
        "Disease": (1, [0.0, 0.0, 0.0]),
        "–": (1, [None, None, 0.0]),
    }
    # a mention counts in each of its types
    assert table("type") == {"T1": (2, [0.5, 1.0, 0.5]), "T2": (2, [0.5, 0.5, 0.5]), "–": (2, [None, None, 0.5])}
    assert {name: n for name, (n, _) in table("seen").items()} == {"NIL": 2, "seen": 2, "unseen": 1}
    assert {name: n for name, (n, _) in table("form").items()} == {"known form": 2, "new form": 3}


def test_coverage_of_a_group_is_a_share_of_the_group():
    groups = MentionGroups(GROUPINGS["form"])
    for prediction in PREDICTIONS:
        groups.add(prediction)
    found = groups.metrics(Outcomes.of(PREDICTIONS), n_samples=20)
    assert found["known form"]["coverage@95"] == 0.5  # the first of two is right, the second wrong
    assert found["known form"]["coverage@95_low"] == found["known form"]["coverage@95_high"] == pytest.approx(0.5)
    assert found["new form"]["coverage@95"] is found["new form"]["coverage@98_low"] is None  # no P(right)
