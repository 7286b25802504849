"""Errors in their context."""

import pytest

from spacy_pel.corpora import write_corpus
from spacy_pel.errors import PelError
from spacy_pel.evaluation import Prediction
from spacy_pel.evaluation.report.error_cases import ErrorCase
from spacy_pel.evaluation.report.report_errors import shown_error, texts_of
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity

TEXT = "word " * 100 + "aspirin" + " word" * 100


def case(doc="d", start=500, gold=("A", "Z", "C"), found=None, **more):
    prediction = Prediction(
        *(doc, start, start + 7, "aspirin", "L", list(gold), "B", [("B", 0.5), ("A", 0.25)]), **more
    )
    return ErrorCase("wrong_first", "why", prediction, found or {"A": (2, 0.25), "C": (9, 0.125)})


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
    assert [(one.id, one.name, one.place, one.score, one.is_gold, one.is_chosen) for one in shown] == [
        ("X", "", "not in KB", None, True, False),
        ("Z", "aspirin", "not found", None, True, False),
        ("B", "bread", "1", 0.5, False, True),
        ("A", "aspirin", "2", 0.25, True, False),
        ("C", "", "9", 0.125, True, False),
    ]


def test_corpora_may_share_ids(tmp_path):
    write_corpus(tmp_path / "a.jsonl", [Document("d", "another text"), Document("e", "not asked for")])
    write_corpus(tmp_path / "b.jsonl", [Document("d", "An aspirin.")])
    texts = texts_of([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], [case()])
    assert texts == {"d": ["another text", "An aspirin."]}
    assert shown_error("run", case(start=3), texts=texts, kb=None).after == "."


def test_another_corpus_is_refused():
    with pytest.raises(PelError, match="E685.*run.*document 'd' is not there"):
        shown_error("run", case(), texts={"e": [TEXT]}, kb=None)
    with pytest.raises(PelError, match="E685.*at 499 of 'd' stands ' aspiri', not 'aspirin'"):
        shown_error("run", case(start=499), texts={"d": [TEXT]}, kb=None)
