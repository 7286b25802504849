"""Names that share a word or have only a slash between them, by the default pipeline and by a table's names."""

import re
from pathlib import Path

import pytest
import spacy
from cases import cases

from spacy_pel.abbreviations.documents import listed_kinds, whole_names
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity
from spacy_pel.util.reading import read

from .conftest import NAME, PLAIN

pytestmark = pytest.mark.slow
HIV, AIDS, CHF, CAD = "C0019682", "C0001175", "C0018802", "C0010054"


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(Path(__file__).parents[2] / "assets" / "pel_medmentions")


@pytest.mark.parametrize(("text", "expected"), cases("lists_of_names", "by_the_default_pipeline"))
def test_by_the_default_pipeline(nlp, text, expected):
    assert {ent.text: ent.kb_id_ for ent in nlp(text).ents} == expected


@pytest.mark.parametrize(
    ("text", "tagged", "expected"),
    [
        ("anti IL-4/-13 antibody", ["anti IL-4/-13 antibody"], ["anti IL-4/-13 antibody"]),
        ("anti IL-4/-13 antibody", ["anti IL-4"], ["anti IL-4", "-13"]),
        ("hepatitis B/C", ["B/C"], ["B/C"]),
        ("hepatitis B/C", ["hepatitis"], ["hepatitis B", "C"]),
        ("levels of IL-4/-13 rose", ["levels of IL-4/-13"], ["IL-4", "-13"]),
        ("IL-4/-13", [], ["IL-4", "-13"]),
    ],
)
def test_items_are_apart_from_mentions_around_them(nlp, text, tagged, expected):
    places = [(text.index(mention), text.index(mention) + len(mention)) for mention in tagged]
    found = nlp.get_pipe("ner")._with_kinds(nlp.make_doc(text), places)
    assert [text[start:end] for start, end in found] == expected


SPACED = ["CHF/CAD", "HTN/T2DM/CKD", "obesity/OSA", "COPD/asthma", "HBV/HCV coinfection"]
GIVEN = ["and/or", "mg/dL", "A/P: HTN", "TGF-β/Smad", "nausea/vomiting", "AND/OR", "BRCA1/2", "SWI/SNF-like", "N/V"]


@pytest.mark.parametrize("text", SPACED + GIVEN)
def test_names_stand_apart_in_what_detectors_read(text):
    assert read(text, apart=True).text == (text.replace("/", " / ") if text in SPACED else text)
    assert read(text).text == text


@pytest.mark.parametrize(("text", "expected"), cases("lists_of_names", "kinds_of_one_thing"))
def test_kinds_of_one_thing(text, expected):
    items = [item for items in listed_kinds(text) for item in items]
    assert [names[-2] for _, _, names in items] == expected


class Names(dict):
    """As a knowledge base: names with the ids of their entities, and entities."""

    def ids(self, name):
        return [
            entity.concept_id for entity in self.values() if name.lower() in (entity.canonical_name, *entity.aliases)
        ]


def names_of(**names):
    return Names({key: Entity(key, *values[:1], aliases=values[1:]) for key, values in names.items()})


def test_a_whole_name_is_read_only_if_it_is_one():
    text = "lung, breast and colon cancer"
    names = names_of(L=("lung",), B=("breast",), LC=("lung cancer",), BC=("breast cancer",))

    def read_as(*labels):
        places = [(0, 4), (6, 12), (17, 29)]
        return whole_names(text, [(*place, label) for place, label in zip(places, labels, strict=True)], names)

    assert read_as("ANATOMICAL_STRUCTURE", "X", "BIOLOGIC_FUNCTION") == ["lung cancer", None, None]
    del names["B"]
    assert read_as("X", "X", "X") == [None, "breast cancer", None]
    names.clear()
    assert read_as("ANATOMICAL_STRUCTURE", "X", "BIOLOGIC_FUNCTION") == [None] * 3


def test_an_item_is_called_as_the_first_one_is_or_read_as_it_is():
    names = names_of(A=("influenza a virus",), B=("influenza b virus",))
    assert whole_names("influenza A and B", [(0, 11, ""), (16, 17, "")], names) == [None, "influenza B virus"]
    names = names_of(C=("protein c",), P=("protein", "protein s"), S=("protein s",))  # "protein(s)"
    assert whole_names("Proteins C, S and Z", [(12, 13, ""), (18, 19, "")], names) == [None, None]


def test_letters_share_the_word_after_the_last_one():
    text = "B-, T- and NK-cell lymphoma"
    (last, *others), *_ = listed_kinds(text)
    assert last == (text.index("NK"), text.index("-cell"), [])
    assert others == [(0, 2, ["B cell lymphoma", "B cell"]), (4, 6, ["T cell lymphoma", "T cell"])]
    names = names_of(T=("t cell lymphoma",))
    assert whole_names(text, [(0, 2, ""), (4, 6, "")], names) == ["B cell", "T cell lymphoma"]


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("Vitamin D and K waves", ["k waves", "vitamin k"], "K waves"),
        ("hepatitis A and B virus", ["b virus", "hepatitis b", "hepatitis b virus"], "hepatitis B virus"),
        ("hepatitis A and B virus", ["b virus", "hepatitis b"], "B virus"),
        ("CXCL9 and -10", ["interleukin-10"], "CXCL10"),
        ("HPV 16 and 18", [], None),
        ("pain and anxiety disorders", ["pain", "pain disorder"], None),
        ("pain and anxiety disorder scale", ["pain", "pain disorder", "pain disorder scale"], "pain disorder scale"),
        ("hypo- and trimethylation", ["hypolation"], None),
        ("pain x and isotonic sodium chloride", ["pain x", "pain x sodium chloride"], None),
        ("hypo- and hypertension", ["hypo-", "hypotension"], "hypotension"),
    ],
)
def test_what_an_item_shares_or_not(text, names, expected):
    item = re.search(r"\b[KB]\b|-?\b1[08]\b|^pain( x)?|^hypo-", text)
    assert whole_names(text, [(*item.span(), "")], names_of(**{name: (name,) for name in names})) == [expected]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], ["history", "ST segment"]),
        (["hx", "st"], [None, None]),
        (["hx", "history", "st segment", "st"], ["history", "ST segment"]),
    ],
)
def test_shorthand_of_notes_that_is_a_name_stays(names, expected):
    places = [(0, 2, ""), (6, 8, "")]
    assert whole_names("Hx of ST elevation", places, names_of(**{name: (name,) for name in names})) == expected


@pytest.mark.parametrize("has_ruler", [False, True])
def test_by_the_names_of_a_table(tmp_path, has_ruler):
    entities = [Entity(kind, f"Hepatitis {kind}") for kind in "ABC"] + [Entity("IL8", "IL-8"), Entity("IL6", "IL-6")]
    KnowledgeBase.build(entities, tmp_path / "kb")
    nlp = spacy.blank("en")
    if has_ruler:
        patterns = ["Hepatitis A", "B", "C", "IL-6", "-8"]
        nlp.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": text} for text in patterns])
    else:
        nlp.add_pipe("pel_name_finder")
    linker = nlp.add_pipe(NAME, config=PLAIN)
    linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase.from_disk(tmp_path / "kb"))
    found = {
        ent.text: ent.kb_id_
        for ent in nlp("Hepatitis A, B and C; levels of IL-6 and -8; C or D").ents
        if ent.start < 12
    }
    assert found == {"Hepatitis A": "A", "B": "B", "C": "C", "IL-6": "IL6", "-8": "IL8"}
