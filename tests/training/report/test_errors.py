"""Kinds of errors with their reasons, the sample of them, and the errors in their context."""

import re

import pytest

from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.evaluation import Prediction
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.report.errors import KINDS, ErrorSample, error_kind, shown_error, texts_of, why
from spacy_pel.types import Document, Entity


def predicted(gold, kb_id, *, doc="d", nil_score=0.25, candidates="ABC", **more):
    ranked = [(entity_id, 1.0 - 0.25 * place) for place, entity_id in enumerate(candidates)]
    return Prediction(doc, 0, 1, "x", "L", gold, kb_id, ranked, nil_score, **more)


ERRORS = [
    (predicted(["C"], "A"), "wrong_first", "at rank 3 of 3, 0.500 below the first"),
    (predicted(["C"], "A", relation="parent"), "wrong_first", r"below the first\. The link is its parent\.$"),
    (predicted(["C"], "A", relation="other"), "wrong_first", r"below the first\.$"),
    (predicted(["Z"], "A"), "not_retrieved", "not among the 3 candidates"),
    (predicted(["Z"], "A", relation="sibling"), "not_retrieved", r"3 candidates\. The link is its sibling\."),
    (predicted(["B"], "NIL", nil_score=0.75), "nil_wrongly", "0.750, NIL threshold 0.500. The .* rank 2 of 3"),
    (predicted(["Z"], "NIL", candidates=""), "nil_wrongly", "not among the 0 candidates"),
    (predicted([], "A"), "linked_though_nil", "NIL would be right. NIL score 0.250, NIL threshold 0.500"),
    (predicted([], "A", outside=["X1", "X2"]), "not_in_kb", "The KB lacks X1, X2"),
    (predicted(["A", "C"], "A", composite=True), "composite", "2 entities: all of them by rank 3 of 3"),
    (predicted(["A", "Z"], "A", composite=True), "composite", "not all of them"),
    (predicted(["A"], "", candidates=""), "not_found", "no mention"),
]


@pytest.mark.parametrize(("prediction", "kind", "reason"), ERRORS)
def test_kinds_and_reasons(prediction, kind, reason):
    assert error_kind(prediction) == kind
    assert re.search(reason, why(kind, prediction, 0.5))
    assert "threshold" not in why(kind, prediction, None)


@pytest.mark.parametrize(
    "prediction",
    [
        predicted(["A"], "A"),
        predicted(["Z", "A"], "A"),
        predicted([], "NIL"),
        predicted(["A"], "A", composite=True),
        predicted([], "NIL", outside=["X1"]),
    ],
)
def test_what_is_right_has_no_kind(prediction):
    assert error_kind(prediction) is None


def sample(n, seed=0):
    made = ErrorSample(n, seed=seed)
    for i in range(200):
        made.add(predicted(["C"], "A", doc=f"{i:03}"))
        if i < 3:
            made.add(predicted([], "A", doc=f"{i:03}"))
        made.add(predicted(["A"], "A", doc=f"{i:03}"))
    return made


def test_sample_is_of_each_kind_and_random():
    made = sample(10)
    assert made.counts == {**dict.fromkeys(KINDS, 0), "wrong_first": 200, "linked_though_nil": 3}
    docs = [prediction.doc for _, prediction in made.cases()]
    assert len(docs) == 13 and docs[:10] == sorted(set(docs[:10])) and docs[10:] == ["000", "001", "002"]
    assert docs == [prediction.doc for _, prediction in sample(10).cases()]
    assert docs != [prediction.doc for _, prediction in sample(10, seed=1).cases()]
    assert max(docs[:10]) > "100"  # not the first ones
    assert sample(0).cases() == [] and sample(0).counts == made.counts


# -- in context -------------------------------------------------------------------------------------

TEXT = "word " * 100 + "aspirin" + " word" * 100


def case(doc="d", start=500, gold=("A", "Z", "C"), **more):
    ranked = [("B", 0.5), ("A", 0.25), *((f"x{i}", 0.2) for i in range(3, 9)), ("C", 0.125)]
    return "wrong_first", Prediction(*(doc, start, start + 7, "aspirin", "L", list(gold), "B", ranked), **more)


def test_context_is_cut_at_spaces():
    shown = shown_error("run", case(), texts={"d": [TEXT]}, kb=None)
    assert shown.before.startswith("… word") and shown.before.endswith("word ") and len(shown.before) < 170
    assert shown.after.startswith(" word") and shown.after.endswith("word …")
    whole = shown_error("run", case(start=3), texts={"d": ["An aspirin."]}, kb=None)
    assert (whole.before, whole.mention, whole.after) == ("An ", "aspirin", ".")
    alone = shown_error("run", case(), texts=None, kb=None)
    assert (alone.before, alone.after) == ("", "")


def test_entities_in_order_with_names():
    kb = KnowledgeBase([Entity("A", "aspirin"), Entity("B", "bread")], redirects={"Z": "A"})
    shown = shown_error("run", case(outside=["X"]), texts=None, kb=kb).entities
    assert [(one.id, one.name, one.rank, one.score, one.is_gold, one.is_chosen) for one in shown] == [
        ("X", "", "not in KB", None, True, False),
        ("Z", "aspirin", "not found", None, True, False),
        ("B", "bread", "1", 0.5, False, True),
        ("A", "aspirin", "2", 0.25, True, False),
        *((f"x{i}", "", str(i), 0.2, False, False) for i in (3, 4, 5)),
        ("C", "", "9", 0.125, True, False),
    ]


def test_corpora_may_share_ids(tmp_path):
    write_corpus(tmp_path / "a.jsonl", [Document("d", "another text"), Document("e", "not asked for")])
    write_corpus(tmp_path / "b.jsonl", [Document("d", "An aspirin.")])
    texts = texts_of([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], {"d"})
    assert texts == {"d": ["another text", "An aspirin."]}
    assert shown_error("run", case(start=3), texts=texts, kb=None).after == "."


def test_another_corpus_is_refused():
    with pytest.raises(PelError, match="E685.*run.*it has no document 'd'"):
        shown_error("run", case(), texts={"e": [TEXT]}, kb=None)
    with pytest.raises(PelError, match="E685.*the text at 499 of 'd' is ' aspiri', not 'aspirin'"):
        shown_error("run", case(start=499), texts={"d": [TEXT]}, kb=None)
