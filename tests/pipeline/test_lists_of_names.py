"""Names that share a word or have only a slash between them, by the default pipeline and by a table's names."""

import re
from pathlib import Path

import pytest
import spacy

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HIV/AIDS", {"HIV": HIV, "AIDS": AIDS}),
        ("History of CHF/CAD.", {"CHF": CHF, "CAD": CAD}),
        ("DM/HTN", {"DM": "C0011849", "HTN": "C0020538"}),
        ("obesity/OSA", {"obesity": "C0028754", "OSA": "C0520679"}),
        ("PTSD/anxiety", {"PTSD": "C0038436", "anxiety": "C0003467"}),
        ("asthma/pneumonia", {"asthma": "C0004096", "pneumonia": "C0032285"}),
        ("IL-6/IL-8", {"IL-6": "C0021760", "IL-8": "C0079633"}),
        ("htn/dm", {"htn": "C0020538", "dm": "C0011849"}),
        ("CT/MRI", {"CT": "C0040405", "MRI": "C0024485"}),
        ("HTN/DM/", {"HTN": "C0020538", "DM": "C0011849"}),
        ("asthma&COPD", {"asthma": "C0004096", "COPD": "C0024117"}),
        ("SPECT/CT", {"SPECT/CT": "C3472245"}),
        ("TMP/SMX", {"TMP/SMX": "C0041044"}),
        ("His arm was sore after a fall.", {"arm": "C1269078", "sore": "NIL", "fall": "C0085639"}),
        ("The rat got a shot and a scan.", {"rat": "C0034721", "scan": "C0441633"}),
        ("hepatitis A, B and C", {"hepatitis A": "C0019159", "B": "C0019163", "C": "C0019196"}),
        ("hepatitis B/C", {"hepatitis B": "C0019163", "C": "C0019196"}),
        ("influenza A and B", {"influenza A": "C0029347", "B": "C0029348"}),
        ("Vitamins B6 and B12 were given.", {"Vitamins B6": "C0087162", "B12": "C0042845"}),
        ("IL-6 and -8", {"IL-6": "C0021760", "-8": "C0079633"}),
        ("IL-4/-13", {"IL-4": "C0021758", "-13": "C0214743"}),
        ("IL-2/-4/-13", {"IL-2": "C0021756", "-4": "C0021758", "-13": "C0214743"}),
        ("asthma, levels of IL-4/13", {"asthma": "C0004096", "IL-4": "C0021758", "13": "C0214743"}),
        ("hepatitis-A/-B", {"hepatitis-A": "C0019159", "-B": "C0019163"}),
        ("HPV-16/-18 infection", {"HPV-16": "C0999806", "-18": "C0999807", "infection": "C3714514"}),
        ("caspase-3/7", {"caspase-3": "C0291573", "7": "C0010656"}),
        ("ERK1/2", {"ERK1/2": "C0600388"}),
        ("Dx: gout", {"gout": "C0018099"}),
        ("Final Dx was gout.", {"Dx": "C0011900", "gout": "C0018099"}),
        ("tx with prednisone", {"tx": "C0087111", "prednisone": "C0032952"}),
        ("ST elevation", {"ST": "C0429029", "elevation": "C0702240"}),
        ("Doxorubicin (Dx) was given. Dx failed.", {"Doxorubicin": "C0013089", "Dx": "C0013089"}),
        ("T- and B-cells", {"T-": "C0039194", "B-cells": "C0004561"}),
        ("renal and hepatic failure", {"renal": "C0035078", "hepatic failure": "C0085605"}),
        ("caspases 3 and 9", {"caspases 3": "C0291573", "9": "C0910167"}),
        ("Vitamin D and A fib", {"Vitamin D": "C0042866", "fib": "C0004238"}),
        ("Factor V and IV fluids", {"Factor V": "NIL", "IV fluids": "NIL"}),
        ("CXCL9, -10 and -11", {"CXCL9": "NIL", "-10": "NIL", "-11": "NIL"}),
        ("IL-1β and -6", {"IL-1β": "C0021753", "-6": "C0021760"}),
        ("IL-6, -8, and TNF", {"IL-6": "C0021760", "-8": "C0079633", "TNF": "C0041368"}),
        ("hepatitis A/B/C", {"hepatitis A": "C0019159", "B": "C0019163", "C": "C0019196"}),
        ("hepatitis B as well as C", {"hepatitis B": "C0019163", "C": "C0019196"}),
        ("hepatitis C, D", {"hepatitis C": "C0019196", "D": "C0011226"}),
        ("systolic and diastolic heart failure", {"systolic": "C1135191", "diastolic heart failure": "C1135196"}),
        ("squamous and basal cell carcinoma", {"squamous": "C0007137", "basal cell carcinoma": "C0007117"}),
        ("hypo- and hyperthyroidism", {"hypo-": "C0020676", "hyperthyroidism": "C0020550"}),
        ("B and T cells", {"B": "C0004561", "T cells": "C0039194"}),
        ("B- and T-cell lymphoma", {"B-": "C0079731", "T-cell lymphoma": "C0079772"}),
        ("pain and anxiety disorders", {"pain": "C0030193", "anxiety disorders": "C0003469"}),
    ],
)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vitamin C and E", ["vitamin C", "vitamin E"]),
        ("factors V and VIII", ["factor V", "factor VIII"]),
        ("CDK4 and 6", ["CDK4", "CDK6"]),
        ("interferon alpha or beta", ["interferon alpha", "interferon beta"]),
        ("influenza A/B", ["influenza A", "influenza B"]),
        ("ERK1/2", []),
        ("MMP-2, -3, and -9", ["MMP-2", "MMP-3", "MMP-9"]),
        ("IL-4/-13", ["IL-4", "IL-13"]),
        ("caspase-3/7", ["caspase-3", "caspase-7"]),
        ("TGF-beta1/-beta2", ["TGF-beta1", "TGF-beta2"]),
        ("IL-17A and -17F", ["IL-17A", "IL-17F"]),
        ("interleukin 1beta or 6", ["interleukin 1beta", "interleukin 6"]),
        ("influenza C, D; E", ["influenza C", "influenza D"]),
        ("influenza B, C, and asthma", ["influenza B", "influenza C"]),
        ("influenza B and C-infected", ["influenza B", "influenza C"]),
        ("hepatitis B, A total of 9", []),
        ("factor VIII and IV fluids", []),
        ("anti-KCNQ1, 1:200, MF20, A,D", []),
        ("exons 3, 4", []),
        ("vitamin D and C-reactive protein", []),
        ("vitamin D and E. coli", []),
        ("asthma, B cells and C", []),
        ("asthma and COPD", []),
        ("IL-6 and TNF", []),
        ("from 2 to 6 hours", []),
    ],
)
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
