"""Metrics by groups of documents, against counting by hand."""

import pytest

from spacy_pel.errors import PelError
from spacy_pel.evaluation import Outcomes, Prediction
from spacy_pel.evaluation.metrics.groups import DocumentGroups
from spacy_pel.types import NIL, Document, Mention

# document, group, gold, candidates, answer
ROWS = [
    ("d1", "wiki", ["A"], ["A", "B"], "A"),
    ("d1", "wiki", ["A"], ["B", "A"], "B"),
    ("d2", "news", ["A"], [], NIL),
    ("d3", "wiki", [], ["A"], NIL),
    ("d4", "news", ["B"], ["B"], "B"),
    ("d4", "news", ["B"], ["A", "C", "B"], NIL),
    ("d5", "nil", [], ["A"], "A"),
]


def predictions():
    return [
        Prediction(doc, i, i + 1, "x", "", gold, answer, [(c, 1.0) for c in found])
        for i, (doc, _, gold, found, answer) in enumerate(ROWS)
    ]


def documents(meta=lambda group: {"world": group}):
    groups = {doc: group for doc, group, *_ in ROWS}
    made = [Document("d0", "no mentions", [], {})]
    return made + [Document(doc, "x", [Mention(0, 1)], meta(group)) for doc, group in groups.items()]


def test_groups_and_macro():
    groups = DocumentGroups("meta.world")
    assert [d.id for d in groups.watch(documents())] == ["d0", "d1", "d2", "d3", "d4", "d5"]
    found = groups.metrics(Outcomes.of(predictions()), ks=[1, 2, 4], n_samples=50)
    wiki, news, nil = (found["groups"][name] for name in ("wiki", "news", "nil"))
    assert (wiki["n"], wiki["n_nil"], wiki["accuracy"]) == (3, 1, pytest.approx(2 / 3))
    assert [wiki[f"recall@{k}"] for k in (1, 2, 4)] == [0.5, 1.0, 1.0]
    assert (news["n"], news["n_nil"], news["accuracy"]) == (3, 0, pytest.approx(1 / 3))
    assert [news[f"recall@{k}"] for k in (1, 2, 4)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert nil == {"n": 1, "n_nil": 1, "accuracy": 0.0}
    assert found["macro_accuracy"] == pytest.approx(1 / 3)
    assert found["macro_recall@1"] == pytest.approx((0.5 + 1 / 3) / 2)
    assert found["macro_recall@1_low"] <= found["macro_recall@1"] <= found["macro_recall@1_high"]
    assert found["group_by"] == "meta.world"


def test_errors():
    for key in ("world", "meta.", "text"):
        with pytest.raises(PelError, match="PEL-E622"):
            DocumentGroups(key)
    for meta in ({}, {"world": None}, {"world": ["a"]}):
        with pytest.raises(PelError, match="PEL-E623.*d1"):
            list(DocumentGroups("meta.world").watch(documents(lambda group, meta=meta: meta)))
    with pytest.raises(PelError, match="PEL-E623"):
        list(DocumentGroups("meta.world.deeper").watch(documents()))
