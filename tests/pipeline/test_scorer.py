import pytest
from spacy.tokens import Span
from spacy.training import Example

from spacy_pel.pipeline.scorer import make_nel_scorer
from spacy_pel.types import NIL

from .conftest import NAME, make_doc


@pytest.fixture
def make_example(nlp):
    """Mentions a, b, c ... of one token each: (gold id, predicted id or None = not found, candidates)."""

    def make(*rows):
        words = [f"w{number}" for number in range(len(rows))]
        gold, predicted = make_doc(nlp, *words), make_doc(nlp, *words)
        gold.ents = [Span(gold, i, i + 1, "X", kb_id=row[0]) for i, row in enumerate(rows)]
        predicted.ents = [
            Span(predicted, i, i + 1, "X", kb_id=row[1]) for i, row in enumerate(rows) if row[1] is not None
        ]
        for ent in predicted.ents:
            ent._.pel_candidates = [[entity_id, 0.5] for entity_id in rows[ent.start][2]]
        return Example(predicted, gold)

    return make


TABLE = [
    ("A", "A", ["A", "B"]),  # right
    ("A", "B", ["B", "A"]),  # wrong, second
    ("A", NIL, ["A"]),  # wrong NIL
    ("A", None, []),  # not found
    (NIL, NIL, ["A"]),  # right NIL
    (NIL, "A", ["A"]),  # NIL not seen
    ("", "A", ["A"]),  # nobody says what is right
]


def test_by_hand(make_example):
    scores = make_nel_scorer(recall_at=(1, 2))([make_example(*TABLE[:4]), make_example(*TABLE[4:])])
    assert scores["nel_accuracy"] == pytest.approx(2 / 6)
    assert scores["nel_nil_p"] == pytest.approx(1 / 2)
    assert scores["nel_nil_r"] == pytest.approx(1 / 2)
    assert scores["nel_nil_f"] == pytest.approx(1 / 2)
    assert scores["nel_recall_at_1"] == pytest.approx(2 / 4)
    assert scores["nel_recall_at_2"] == pytest.approx(3 / 4)
    # spaCy's: 1 right; wrong id and id at NIL and at the unlabelled are false positives
    assert scores["nel_micro_p"] == pytest.approx(1 / 4)
    assert scores["nel_micro_r"] == pytest.approx(1 / 4)
    assert {"nel_score", "nel_macro_f", "nel_f_per_type"} <= set(scores)


def test_nothing_to_score_is_none(make_example):
    scores = make_nel_scorer()([make_example(("A", "A", ["A"]))])
    assert scores["nel_accuracy"] == 1.0 and scores["nel_nil_f"] is None
    empty = make_nel_scorer()([])
    assert empty["nel_accuracy"] is None and empty["nel_recall_at_64"] is None


def test_spans_key(make_example):
    example = make_example(("A", "B", []), ("A", "A", ["A"]))
    for doc, kb_id in ((example.predicted, "A"), (example.reference, "A")):
        doc.spans["mentions"] = [Span(doc, 0, 2, "X", kb_id=kb_id)]
    assert make_nel_scorer()([example], spans_key="mentions")["nel_accuracy"] == 1.0


def test_nlp_evaluate(make_nlp):
    """Gold ids that the knowledge base has retired are their successors, those that it lacks are NIL."""
    nlp = make_nlp(nil_model={"@pel_nil": "spacy-pel.LogisticNil.v1"}, threshold=0.5)
    linker = nlp.get_pipe(NAME)
    linker.retire(["C09"], {"C09": "C01"})
    gold, right = nlp("zzyzx for a heart attack and Aspirin"), (NIL, "C09", "GONE")
    gold.ents = [Span(gold, e.start, e.end, e.label_, kb_id=k) for e, k in zip(gold.ents, right, strict=True)]
    scores = nlp.evaluate([Example(nlp.make_doc(gold.text), gold)], scorer_cfg={"unknown_setting": 1})
    assert scores["nel_accuracy"] == pytest.approx(2 / 3)
    assert scores["nel_recall_at_1"] == 1.0
    assert scores["nel_nil_r"] == pytest.approx(1 / 2)
    linker.scorer = None
    assert linker.score([]) == {}
