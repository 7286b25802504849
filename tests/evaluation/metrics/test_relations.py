"""What a wrong link is to the right entity."""

from pathlib import Path

import pytest

from spacy_pel.evaluation import Outcomes
from spacy_pel.evaluation.metrics.groups import RELATIONS, Relations
from spacy_pel.evaluation.outcomes import Run
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.report.tables import relation_table
from spacy_pel.types import Entity

from ..conftest import predicted

#       root
#      /    \\
#    heart   kidney        alone
#    /  \\
# left   right
#  |
# tip
PARENTS = {"root": "", "heart": "root", "kidney": "root", "left": "heart", "right": "heart", "tip": "left", "alone": ""}


@pytest.fixture
def relations():
    kb = KnowledgeBase([Entity(name, name, parents=(above,) if above else ()) for name, above in PARENTS.items()])
    return Relations(kb)


@pytest.mark.parametrize(
    ("answer", "gold", "relation"),
    [
        ("heart", ["left"], "parent"),
        ("left", ["heart"], "child"),
        ("right", ["left"], "sibling"),
        ("kidney", ["heart"], "sibling"),
        ("root", ["tip"], "ancestor"),
        ("tip", ["root"], "descendant"),
        ("kidney", ["tip"], "other"),
        ("alone", ["heart"], "unknown"),
        ("heart", ["alone"], "unknown"),
        ("heart", ["kidney", "left"], "parent"),  # the nearest of several
        ("NIL", ["left"], ""),
        ("", ["left"], ""),
        ("heart", [], ""),
        ("heart", ["heart"], ""),
        ("heart", ["heart", "left"], ""),
    ],
)
def test_relation(relations, answer, gold, relation):
    prediction = predicted(gold, [answer], answer)
    relations.add(prediction)
    assert prediction.relation == relation and prediction.to_json().get("relation", "") == relation


def test_shares(relations):
    assert relations.metrics() == {"n_wrong_links": 0, **{f"wrong_links_{name}": None for name in RELATIONS}}
    for answer, gold in (("heart", "left"), ("root", "heart"), ("kidney", "tip"), ("tip", "tip")):
        relations.add(predicted([gold], [answer], answer))
    metrics = relations.metrics()
    assert metrics["n_wrong_links"] == 3 and metrics["wrong_links_parent"] == pytest.approx(2 / 3)
    assert metrics["wrong_links_other"] == pytest.approx(1 / 3) and metrics["wrong_links_sibling"] == 0


def test_table_of_a_report(relations):
    def run():
        return Run(Path("a"), relations.metrics(), Outcomes.of([]), [], [])

    assert relation_table({"a": run()}) is None
    relations.add(predicted(["alone"], ["heart"], "heart"))
    assert relation_table({"a": run()}) is None, "nothing is known"
    relations.add(predicted(["left"], ["heart"], "heart"))
    rows = {row[0].text: row[1].text for row in relation_table({"a": run()}).rows}
    assert rows["parent: one step broader"] == "50.0" and rows["wrong links"] == "2"
    without = Run(Path("b"), {}, Outcomes.of([]), [], [])
    assert {row[2].text for row in relation_table({"a": run(), "b": without}).rows} == {"–"}
