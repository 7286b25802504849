"""``linker.map`` and ``linker.check``: lists of terms and pairs in Python."""

import pytest
import spacy
from spacy.tokens import Span

from spacy_pel import KnowledgeBase
from spacy_pel.errors import PelError
from spacy_pel.pipeline.terms import find_term
from spacy_pel.types import NIL, Entity

ENTITIES = [
    Entity("D0", "heart disease", ("cardiac disease",), ("T047",)),
    Entity("D1", "myocardial infarction", ("heart attack", "MI"), ("T047",), xrefs=("MESH:D009203",), parents=("D0",)),
    Entity("D2", "mitral insufficiency", ("MI",), ("T033",), parents=("D0",)),
    Entity("D3", "asthma", (), ("T047",)),
    Entity("D4", "Chronic fatigue syndrome", (), ("T047",)),
]
TEXT = "MI means mitral insufficiency (MI)."


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("pel_abbreviation_detector")
    component = nlp.add_pipe("proxy_entity_linker", config={"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1"}})
    component.initialize(lambda: [], kb_loader=lambda: KnowledgeBase(ENTITIES, redirects={"OLD": "D3"}))
    return nlp


@pytest.fixture
def linker(nlp):
    return nlp.get_pipe("proxy_entity_linker")


def test_terms_get_the_answers_of_documents(nlp, linker):
    terms = ["heart attack", "Asthma", "severe asthma", "zebra fish", "heart attack", ""]
    for term, match in zip(terms, linker.map(terms), strict=True):
        doc = nlp.make_doc(term)
        doc.ents = [Span(doc, 0, len(doc), label="X")] if term else []
        ents = linker(doc).ents
        assert match.id == (ents[0].kb_id_ if ents else NIL) and match.term == term
        if ents:
            assert match.probability == pytest.approx(ents[0]._.pel_probability, abs=1e-6)
            assert match.relation == ents[0]._.pel_relation and match.name == ents[0]._.pel_name
    assert linker.map([]) == []


def test_own_words_are_learned_for_lists_where_a_term_names_nothing():
    kinds = ("memory", "plasma", "follicular")
    cells = [Entity(f"B{n}", f"{kind} B cell", (f"{kind} B-lymphocyte",)) for n, kind in enumerate(kinds)]
    nlp = spacy.blank("en")
    component = nlp.add_pipe("proxy_entity_linker", config={"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1"}})
    component.initialize(lambda: [], kb_loader=lambda: KnowledgeBase([*cells, Entity("N", "naive B cell")]))

    def linked():
        doc = nlp.make_doc("naive B lymphocyte")
        doc.ents = [Span(doc, 0, len(doc), label="X")]
        return component(doc).ents[0]._.pel_candidates

    component.map(["naive B cell", "plasma B-lymphocyte"])
    assert "own_words" not in component.kb.memo
    before = linked()
    [match] = component.map(["naive B lymphocyte"])
    assert match.id == "N" and match.relation == "exact" and "own_words" in component.kb.memo
    assert linked() == before, "documents are read as before"


def test_what_answers_rest_on(linker):
    terms = ["myocardial infarctions", "heart attack", "myocardial infarctoin", "asthmaa", "crhonic fatiguing"]
    matches = linker.map(terms, always=True)
    assert [match.rests_on for match in matches] == ["preferred name", "synonym", "spelling", "spelling", "vector"]
    nlp = spacy.blank("en")
    doc = nlp("heart attack")
    doc.ents = [Span(doc, 0, 2, label="X", kb_id="D3")]
    try:
        linker.learn([doc])
        [taught] = linker.map(["heart attack"])
        assert (taught.id, taught.rests_on, taught.probability) == ("D3", "correction", 1.0)
    finally:
        linker.forget()


@pytest.mark.parametrize("are_shares", [True, False])
def test_probabilities_are_those_of_one_right_answer(linker, are_shares, monkeypatch):
    monkeypatch.setattr(type(linker.linker.decider.combiner), "is_probability", are_shares)
    for match in linker.map(["heart attack", "MI", "zebra fish"], top_k=5):
        others = [one.probability for one in match.alternatives]
        assert others == sorted(others, reverse=True) and match.id not in [one.id for one in match.alternatives]
        assert match.probability + sum(others) <= 1 + 1e-4
    assert [len(match.alternatives) for match in linker.map(["MI"], top_k=2)] == [2]


def test_types_always_and_spans(nlp, linker):
    types = ["T047", "T033", "D0", "D3|T033"]
    assert [match.id for match in linker.map(["MI"] * 4, types=types)][:2] == ["D1", "D2"]
    assert {match.id for match in linker.map(["MI"] * 4, types=types)[2:]} <= {"D1", "D2"}
    assert [match.id for match in linker.map(["MI"] * 3, types=["| T033 ", "T033 | D3", "|"])][:2] == ["D2", "D2"]
    [never] = linker.map(["zebra fish"])
    [always] = linker.map(["zebra fish"], always=True)
    assert never.id == NIL and always.id == never.alternatives[0].id and always.name
    doc = nlp.get_pipe("pel_abbreviation_detector")(nlp.make_doc(TEXT))
    assert linker.map([doc[0:1], Span(doc, 0, 1, label="DISEASE")])[1].id == "D2", "a detector's label is no type"
    assert (linker.map([doc[0:1]])[0].id, linker.map([doc[0:1]])[0].term) == ("D2", "MI"), "as given"
    assert (linker.check([(doc[0:1], "D2")])[0].text, linker.check([("MI", "ID:D2")])[0].verdict) == ("MI", "agrees")
    with pytest.raises(PelError, match="E537.*got T999"):
        linker.map(["MI"], types=["T999"])
    with pytest.raises(PelError, match="E011.*got int"):
        linker.map([1])
    assert linker.linker.entity_types == {} and linker.linker.threshold is None, "the linker is not changed"


@pytest.mark.parametrize(
    ("text", "given", "verdict", "better"),
    [
        ("heart attack", "D1", "agrees", None),
        ("heart attack", "mesh:D009203", "agrees", None),
        ("heart attack", "D3|D1", "agrees", None),
        ("heart attack", "OLD|D1", "agrees", None),
        ("heart attack", "ID:D1", "agrees", None),
        ("asthma", "ID:OLD", "retired", "D3"),
        ("asthma", "OTHER:D3", "unknown", "D3"),
        ("MI", "D1", "agrees", None),
        ("MI", "D2", "agrees", None),
        ("heart attack", "D0", "broader", "D1"),
        ("cardiac disease", "D2", "narrower", "D0"),
        ("heart attack", "D3", "other", "D1"),
        ("severe asthma", "D3", "broader", None),
        ("asthma", "OLD", "retired", "D3"),
        ("asthma", "NEW", "unknown", "D3"),
    ],
)
def test_verdicts(linker, text, given, verdict, better):
    [found] = linker.check([(text, given)])
    assert (found.text, found.id, found.verdict) == (text, given, verdict)
    assert found.disagrees == (verdict not in ("agrees", "unclear"))
    if text != "MI":
        assert found.better == better and (found.better_name is None) == (better is None)


def test_a_right_id_is_more_probable_than_a_wrong_one(linker):
    right, wrong, other = linker.check([("heart attack", "D1"), ("heart attack", "D0"), ("heart attack", "NEW")])
    assert right.probability > 0.5 > wrong.probability >= other.probability == 0
    assert right.probability == pytest.approx(linker.map(["heart attack"])[0].probability)
    assert linker.check([]) == []
    [unclear] = linker.check([("zebra fish", "D3")])
    assert unclear.verdict == "unclear" and not unclear.disagrees
    unlikely = linker.check([("heart attack", entity.concept_id) for entity in ENTITIES])
    assert len({one.probability for one in unlikely}) == len(ENTITIES), "small ones are told apart"


def test_a_term_is_found_as_whole_words():
    assert find_term("cold", "scolded, cold (cold)") == [9, 15]
    assert find_term("a+b", "a+b") == [0] and find_term("a.b", "axb") == []
