"""The factory ``pel_name_finder``: finds the names of the linker's knowledge base, as they are now."""

import pytest
import spacy
from spacy.tokens import Span

from spacy_pel.errors import PelError
from spacy_pel.pipeline.detectors.name_search import phrase_probability
from spacy_pel.types import Entity

from ..conftest import NAME, copies

pytestmark = pytest.mark.slow

TEXT = "A HEART ATTACK, mi or MI, then aspirin and velmoparin."


@pytest.fixture
def nlp(make_nlp):
    nlp = make_nlp(ruler=False)
    nlp.add_pipe("pel_name_finder", first=True)
    return nlp


def found(nlp, text=TEXT):
    return {ent.text: ent.kb_id_ for ent in nlp(text).ents}


def test_names_in_any_case_but_acronyms(nlp):
    assert found(nlp) == {"HEART ATTACK": "C01", "MI": "C01", "aspirin": "C02"}
    (ent, *_) = nlp(TEXT).ents
    assert ent.label_ == "ENTITY"
    assert len(nlp.get_pipe("pel_name_finder")) == 18  # "cold" is a name of two


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\n    ", "  ", "\xa0", " \t"])
def test_names_in_wrapped_lines(plural_nlp, gap):
    text = f"Natural{gap}killer{gap}cells, a heart{gap}attack.  Diseases{gap}of the{gap}liver"
    assert found(plural_nlp, text) == {
        f"Natural{gap}killer{gap}cells": "N2",
        f"heart{gap}attack": "C01",
        f"Diseases{gap}of the{gap}liver": "N3",
    }


def test_names_with_more_than_one_blank(nlp):
    nlp.get_pipe(NAME).add_entities([Entity("NEW", "velmo  parin")])
    assert found(nlp, "the heart\n\nattack, heart\n \nattack") == {"heart": "C09"}  # not across blank lines
    assert found(nlp, "velmo parin and Velmo\nparin") == {"velmo parin": "NEW", "Velmo\nparin": "NEW"}


def test_it_follows_changes(nlp, linker):
    found(nlp)
    linker.add_entities([Entity("NEW", "velmoparin", aliases=("VP",))])
    assert found(nlp)["velmoparin"] == "NEW" and found(nlp, "VP, vp") == {"VP": "NEW"}
    linker.rename({"NEW": "velmoparin hydrate"})
    assert found(nlp, "Velmoparin hydrate or velmoparin") == {"Velmoparin hydrate": "NEW", "velmoparin": "NEW"}
    linker.retire(["NEW"])
    assert found(nlp, "velmoparin hydrate, VP and aspirin") == {"aspirin": "C02"}
    linker.retire(["C05"])  # a name of another entity stays
    assert found(nlp, "cold") == {"cold": "C04"}
    linker.rename({"C02": "acetosal"}, keep_old=False)
    assert found(nlp, "aspirin and acetosal") == {"acetosal": "C02"}


def test_longer_mentions_win_and_earlier_ones_stay(nlp):
    ruler = nlp.add_pipe("entity_ruler", first=True)
    patterns = ["heart", "aspirin overdose", "Headache"]
    ruler.add_patterns([{"label": "X", "pattern": pattern} for pattern in patterns])
    doc = nlp("A heart attack after an aspirin overdose. Headache and cephalalgia.")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [
        ("heart attack", "ENTITY"),
        ("aspirin overdose", "X"),
        ("Headache", "X"),
        ("cephalalgia", "ENTITY"),
    ]


PLURALS = [
    Entity("N1", "neutrophil", aliases=("neutrophilic leukocyte",)),
    Entity("N2", "natural killer cell", aliases=("NK cell", "NK-cell", "microRNA")),
    Entity("N3", "disease of the liver", aliases=("vitamin A", "liver ALP", "ALP of skin", "part of cell")),
    Entity("N4", "Seizures", aliases=("biopsy", "ALP", "ALPHAS", "LONGACRONYM", "pine", "rat", "caps", "Crps")),
    Entity("N5", "mast cell"),
    Entity("N6", "cells granule"),
]


@pytest.fixture
def plural_nlp(nlp):
    nlp.get_pipe(NAME).add_entities(PLURALS)
    return nlp


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Neutrophils and NK cells were seen.", {"Neutrophils": "N1", "NK cells": "N2"}),
        ("A seizure", {"seizure": "N4"}),
        ("NK-cells, microRNAs", {"NK-cells": "N2", "microRNAs": "N2"}),
        ("Two biopsies, neutrophilic leukocytes", {"biopsies": "N4", "neutrophilic leukocytes": "N1"}),
        ("parts of cell and part of cells", {"parts of cell": "N3", "part of cells": "N3"}),
    ],
)
def test_regular_plurals_and_singulars_of_names(plural_nlp, text, expected):
    assert found(plural_nlp, text) == expected


def test_what_has_no_other_number(plural_nlp):
    others = "ALPS, ALPs, alpha, longacronyms, rats, vitamin as, liver alps, alps of skin, PINES, CAP, a Crp"
    assert found(plural_nlp, others) == {}
    assert found(plural_nlp, "parts of cells and naturals killer cell") == {}  # one word changes
    names = ["ALP", "alphas", "longacronym", "rat", "vitamin A", "liver ALP", "ALP of skin", "caps", "crps"]
    assert [*found(plural_nlp, ", ".join(names))] == names


def test_exact_names_win_over_other_numbers(plural_nlp):
    def spans(text):
        return [ent.text for ent in plural_nlp(text).ents]

    assert spans("mast cells granule") == ["cells granule"]  # as long as "mast cells", which begins earlier
    assert spans("Aspirin for mast cells") == ["Aspirin", "mast cells"]
    plural_nlp.get_pipe(NAME).add_entities([Entity("N7", "cells")])
    assert spans("mast cells, cells") == ["mast cells", "cells"]  # the longer one still counts
    plural_nlp.get_pipe(NAME).add_entities([Entity("N8", "mast cells")])
    assert found(plural_nlp, "mast cells, mast cell") == {"mast cells": "N8", "mast cell": "N5"}


def learn(nlp, mention, kb_id):
    doc = nlp.make_doc(f"Then {mention} came back.")
    doc.ents = [Span(doc, 1, len(doc) - 3, label="ENTITY", kb_id=kb_id)]
    doc.ents[0]._.pel_id = "C99"  # another answer was corrected
    return [one.id for one in nlp.get_pipe(NAME).learn([doc])]


def test_what_was_corrected_is_found_until_it_is_undone(nlp):
    text = "A Sugar sickness, aspirin and\nsugar  sickness."
    assert found(nlp, text) == {"aspirin": "C02"}
    ids = learn(nlp, "sugar sickness", "C06")
    assert found(nlp, text) == {"Sugar sickness": "C06", "aspirin": "C02", "sugar  sickness": "C06"}
    assert len(nlp.get_pipe("pel_name_finder")) == 19
    nlp.get_pipe(NAME).unlearn(ids)
    assert found(nlp, text) == {"aspirin": "C02"} and len(nlp.get_pipe("pel_name_finder")) == 18
    learn(nlp, "sugar sickness", "C06")
    nlp.get_pipe(NAME).retire(["C06"])
    assert found(nlp, text) == {"aspirin": "C02"}


def test_a_mention_corrected_to_nil_or_forgotten_is_not_found(nlp):
    learn(nlp, "sugar sickness", "C06")
    learn(nlp, "zzyzx", "NIL")
    assert found(nlp, "sugar sickness, zzyzx") == {"sugar sickness": "C06"}
    learn(nlp, "sugar sickness", "NIL")  # the same mention in the same text
    assert found(nlp, "sugar sickness, zzyzx") == {}
    learn(nlp, "zzyzx", "C10")
    assert found(nlp, "sugar sickness, zzyzx") == {"zzyzx": "C10"}
    nlp.get_pipe(NAME).forget()
    assert found(nlp, "sugar sickness, zzyzx") == {}


def test_a_correction_across_a_blank_line_is_no_name(nlp):
    learn(nlp, "sugar\n\nsickness", "C06")
    learn(nlp, "candy\nsick\nness", "C06")
    assert found(nlp, "sugar sickness, candy sick ness") == {"candy sick ness": "C06"}


def test_a_name_that_was_learned_too_is_found_as_long_as_either_counts(nlp):
    ids = learn(nlp, "Headache", "C07")  # a name of C03
    assert found(nlp, "headache") == {"headache": "C07"}
    nlp.get_pipe(NAME).unlearn(ids)
    assert found(nlp, "headache") == {"headache": "C03"}
    learn(nlp, "Headache", "C07")
    nlp.get_pipe(NAME).retire(["C03"])
    assert found(nlp, "headache") == {"headache": "C07"}


def test_a_corrected_abbreviation_is_found_by_its_long_form(nlp):
    nlp.add_pipe("pel_abbreviation_detector", after="pel_name_finder", config={"mentions": True})
    text = "The sugar sickness (SUSI) is back. SUSI lasts."
    doc = nlp(text)
    assert not doc.ents and len(doc._.pel_abbreviations) == 2
    doc.ents = [Span(doc, 9, 10, label="ENTITY", kb_id="C06")]
    (learned,) = nlp.get_pipe(NAME).learn([doc])
    assert (learned.text, learned.form) == ("SUSI", "sugar sickness")
    for one in (text, text.replace("SUSI", "SUSC")):
        assert [(ent.kb_id_, len(ent)) for ent in nlp(one).ents] == [("C06", 2), ("C06", 1), ("C06", 1)]
    assert found(nlp, "SUSI") == {}  # it may stand for something else there


@pytest.mark.parametrize("used", [False, True])
def test_changes_and_corrections_survive_round_trips(nlp, used, tmp_path):
    text = "Sugar sickness, aspirin, a heart attack and velmoparin."
    if used:
        found(nlp, text)
    linker = nlp.get_pipe(NAME)
    linker.add_entities([Entity("NEW", "velmoparin")])
    linker.retire(["C01"])
    linker.rename({"C02": "acetosal"}, keep_old=False)
    learn(nlp, "sugar sickness", "C06")
    expected = {"Sugar sickness": "C06", "heart": "C09", "velmoparin": "NEW"}
    for again in copies(nlp, tmp_path / "pipeline"):
        docs = list(again.pipe([text] * 2, n_process=2, batch_size=1))
        assert [[ent.text for ent in doc.ents] for doc in docs] == [list(expected)] * 2
        assert found(again, text) == expected == found(nlp, text)
        again.get_pipe(NAME).retire(["NEW"])
        assert "velmoparin" not in found(again, text)


def test_a_linker_that_is_disabled_or_missing(nlp):
    with nlp.select_pipes(disable=[NAME]):
        assert found(nlp) == {"HEART ATTACK": "", "MI": "", "aspirin": ""}
    nlp.remove_pipe(NAME)
    with pytest.raises(PelError, match=f"PEL-E521.*'{NAME}'.*only: pel_name_finder"):
        nlp(TEXT)


def test_before_the_linker_has_data_nothing_is_found():
    nlp = spacy.blank("en")
    nlp.add_pipe("pel_name_finder")
    nlp.add_pipe("proxy_entity_linker")
    assert not nlp.make_doc(TEXT).ents and len(nlp.get_pipe("pel_name_finder")) == 0
    assert not nlp.get_pipe("pel_name_finder")(nlp.make_doc(TEXT)).ents


def test_names_outlive_the_memory_zone_in_which_they_are_read_or_learned(nlp):
    text = "Velmoparin hydrate, sugar sickness."
    nlp.get_pipe(NAME).add_entities([Entity("NEW", "velmoparin hydrate")])
    with nlp.memory_zone():
        learn(nlp, "sugar sickness", "C06")
    for _ in range(3):
        with nlp.memory_zone():
            assert found(nlp, text) == {"Velmoparin hydrate": "NEW", "sugar sickness": "C06"}
    with nlp.memory_zone():
        nlp.get_pipe(NAME).retire(["NEW"])
        assert found(nlp, text) == {"sugar sickness": "C06"}


GLUED = [
    Entity("K1", "Hypertension", ("HTN",)),
    Entity("K2", "Asthma"),
    Entity("K3", "Chronic obstructive pulmonary disease", ("COPD",)),
    Entity("K4", "Parkinson's disease"),
    Entity("K5", "Type 2 diabetes", ("T2DM",)),
    Entity("K6", "knee joint replacement"),
    Entity("K7", "Sj\u00f6gren syndrome"),
    Entity("K8", "IL-1\u03b2", ("TNF-alpha", "IFN gamma")),
    Entity("K9", "HIV infection", ("HIV", "PD", "ASA")),
    Entity("K10", "24-hydroxycholesterol", ("hydroxycholesterol", "methyl", "phenyl", "glucose")),
    Entity("K11", "Pneumonia"),
    Entity("K12", "Bacterial pneumonia", ("Pneumonia, bacterial",)),
    Entity("K13", "Bacterial meningitis"),
    Entity("K14", "Iron deficiency anemia", ("Anemia, iron deficiency", "Anemia")),
    Entity("K15", "Breast cancer", ("Cancer, breast",)),
    Entity("K16", "Lung cancer", ("Cancer, lung",)),
    Entity("K17", "(R)-ketamine", ("NADP(+)", "E coli", "fibrosis")),
]


@pytest.fixture
def glued_nlp(nlp):
    nlp.get_pipe(NAME).add_entities(GLUED)
    return nlp


def texts_found(nlp, text):
    doc = nlp(text)
    assert doc.text == text and all(doc.text[e.start_char : e.end_char] == e.text for e in doc.ents)
    return [ent.text for ent in doc.ents]


@pytest.mark.parametrize(
    "text",
    [
        *(f"Parkinson{sign}s disease" for sign in "'\u2018\u2019\u201b\u2032\u02bc\u00b4`\uff07"),
        *(f"type{sign}2 diabetes" for sign in "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00a0\u2009"),
        "type\u00ad-2 dia\u00adbe\u200btes",
        "type-\n2 diabetes",
        "Knee-Joint replacement",
        "Sjo\u0308gren syndrome",
        "Sjogren syndrome",
        "Iron deficiency anaemia",
        "\uff28\uff34\uff2e",
        "\ufb01brosis",
        "IL-1\u03b2",
        "IL-1-beta",
        "TNF-\u03b1",
        "IFN-\u0393",
        "E. coli",
        "NADP(+)",
    ],
)
def test_names_are_read_as_the_knowledge_base_reads_them(glued_nlp, text):
    for before, after in (("", ""), ("\ufeff", "\u200b."), ("He had ", " then."), ("\u201c", "\u201d")):
        assert texts_found(glued_nlp, before + text + after) == [text]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("1.HTN 2.COPD 3)Asthma", ["HTN", "COPD", "Asthma"]),
        ("-HTN\n-COPD\n\u2022asthma", ["HTN", "COPD", "asthma"]),
        ("COPD+HTN, COPD/HTN; asthma;COPD asthma,HTN", ["COPD", "HTN"] * 2 + ["asthma", "COPD", "asthma", "HTN"]),
        ("hypertension(HTN) and asthma(mild)", ["hypertension", "HTN", "asthma"]),
        ('(asthma) "asthma" [asthma] asthma\u2014COPD PMH:asthma HTN=yes', ["asthma"] * 4 + ["COPD", "asthma", "HTN"]),
        ("anti-HIV, HIV-1, HIV-1-infected, HTN-related", ["HIV"] * 3 + ["HTN"]),
        ("NASA PD-1 PD-L1 glucose-6-phosphate 24-hydroxycholesterol", ["24-hydroxycholesterol"]),
        ("1-methyl-4-phenyl-1,2,3,6-tetrahydropyridine", []),
        ("asthma.com a@asthma.org www.asthma.org/COPD", []),
        ("type\n- 2 diabetes, breast. Cancer or breast (cancer)", []),
    ],
)
def test_names_within_tokens_but_not_within_words(glued_nlp, text, expected):
    assert texts_found(glued_nlp, text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("pneumonia, bacterial meningitis", {"pneumonia": "K11", "bacterial meningitis": "K13"}),
        ("Pneumonia, bacterial; asthma", {"Pneumonia, bacterial": "K12", "asthma": "K2"}),
        ("breast cancer, lung", {"breast cancer": "K15"}),
        ("anemia, iron deficiency", {"anemia, iron deficiency": "K14"}),
    ],
)
def test_the_reading_that_covers_the_most_words(glued_nlp, text, expected):
    assert found(glued_nlp, text) == expected


def test_splitting_tokens_keeps_what_other_components_found(glued_nlp):
    doc = glued_nlp.make_doc("Yes 1.HTN/COPD, no big rash now")
    doc.ents = [Span(doc, 7, 8, label="X", kb_id="OWN", span_id="p")]  # "rash"
    doc.spans["others"] = [Span(doc, 1, 4, label="A"), Span(doc, 6, 8)]
    doc = glued_nlp.get_pipe("pel_name_finder")(doc)
    assert [token.text for token in doc] == "Yes 1. HTN / COPD , no big rash now".split()
    assert [span.text for span in doc.spans["others"]] == ["1.HTN/COPD", "big rash"]
    kept = doc.ents[-1]
    assert (kept.text, kept.label_, kept.kb_id_, kept.id_) == ("rash", "X", "OWN", "p")


def test_p_right_of_a_phrase_is_never_certain(glued_nlp):
    linker = glued_nlp.get_pipe(NAME)
    assert phrase_probability("HTN") < phrase_probability("falls") < 0.5 < phrase_probability("Breast cancer") < 0.8
    doc = glued_nlp("HTN and bacterial meningitis (BM). BM is rare.")
    short, long_form = doc.ents[:2]
    assert short._.pel_probability < long_form._.pel_probability < 0.8
    assert linker.explain(short).probability == short._.pel_probability
    as_given = glued_nlp.make_doc("HTN and so on")
    as_given.ents = [Span(as_given, 0, 1, label="X")]
    assert linker(as_given).ents[0]._.pel_probability > short._.pel_probability
