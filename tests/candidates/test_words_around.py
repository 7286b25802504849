"""Words around a name, and forms that are read without them, with other words or with a slip mended."""

import numpy as np
import pytest
from cases import cases

from spacy_pel.candidates.form_reader import FormReader, is_slip
from spacy_pel.candidates.words_around import options_of, with_nouns
from spacy_pel.index.annotated_text import AliasPriors
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

ENTITIES = [
    *[
        Entity(f"S{i}", name, (), ("T184",))
        for i, name in enumerate(["sciatica", "fatigue", "pain", "nausea", "tremor"])
    ],
    *[Entity(f"D{i}", name, (), ("T121",)) for i, name in enumerate(["insulin", "prednisone", "aspirin"])],
    Entity("F1", "moderate to severe pain", (), ("T184",)),
    Entity("F2", "kidney disease", ("chronic kidney disease",), ("T047",)),
    Entity("F3", "back pain", ("pain, severe back",), ("T184",)),
    Entity("F4", "stomach upset", (), ("T184",)),
    Entity("F5", "alopecia", ("hair loss",), ("T047",)),
    Entity("F6", "diarrhea", ("infectious diarrhea", "chronic diarrhea", "diarrhea of infants"), ("T184",)),
    Entity("A1", "knee", (), ("T023",)),
    Entity("A2", "left ventricle", ("ventricle",), ("T023",)),
    Entity("M1", "anger", (), ("T041",)),
    Entity("O1", "widget", ()),
    Entity("T1", "tachycardia", (), ("T033",)),
    Entity("T2", "heart rate", (), ("T201", "T033")),
]


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase(ENTITIES)


def read(kb, form, priors=None):
    """What is read of a form."""
    reading = FormReader(kb, priors).read([form])[form]
    return form if reading is None else reading.word or form[reading.start : reading.end]


@pytest.mark.parametrize(("form", "expected"), cases("words_around", "what_is_read_of_a_form"))
def test_what_is_read_of_a_form(kb, form, expected):
    assert read(kb, form).split() == expected.split()


def test_annotated_forms_are_read_as_they_are(kb):
    annotated = AliasPriors.build(["extreme fatigue", "diarhea", "left knee"], kb.rows(["S1", "F6", "S2"]))
    assert [read(kb, form, annotated) for form in ("extreme fatigue", "diarhea")] == ["extreme fatigue", "diarhea"]
    assert read(kb, "severe left knee", annotated) == "left knee"  # what annotated text means by it is a finding
    # a form that is hardly ever marked is no name of a part, and none to be mended
    hardly = AliasPriors.build(["fatigue"] * 20, np.array([1, *[-1] * 19]))
    assert read(kb, "extreme fatigue", hardly) == "extreme fatigue"


def test_readings_do_not_depend_on_what_is_read_beside(kb):
    forms = ["extreme fatigue", "diarhea", "left knee", "nauseated", "insulin gtt", "zzyzx", "aspirin"]
    reader = FormReader(kb, None)
    assert reader.read(forms) == {form: FormReader(kb, None).read([form])[form] for form in forms}
    assert FormReader(kb, None).read(forms[::-1]) == reader.readings


def test_a_new_name_is_known_at_once(kb):
    kb = KnowledgeBase(ENTITIES)
    assert read(kb, "hydralazin") == "hydralazin"
    kb.put([Entity("N1", "hydralazine", (), ("T121",))])
    kb.put([Entity("N2", "hydroxyzine", (), ("T121",))])
    assert read(kb, "hydroxizine") == "hydroxyzine"


@pytest.mark.parametrize(
    ("word", "other", "n"),
    [("diarhea", "diarrhea", 1), ("hypertention", "hypertension", 1), ("vomitting", "vomiting", 1)]
    + [("migranes", "migraines", 1), ("hypercholestrolemia", "hypercholesterolemia", 1), ("insomina", "insomnia", 1)],
)
def test_slips(word, other, n):
    assert is_slip(word, other, n)


@pytest.mark.parametrize(
    ("word", "other", "n"),
    [("abusers", "abuses", 1), ("odontoclasts", "odontoblasts", 1), ("polyamines", "polyamides", 1)]
    + [("microcytosis", "macrocytosis", 1), ("lumpectomy", "lipectomy", 2), ("fatalities", "facilities", 2)],
)
def test_other_words_are_no_slips(word, other, n):
    assert not is_slip(word, other, n)


def test_what_may_be_read_is_bounded():
    for form in ("a " * 49 + "a", "the first " * 9 + "week", "was " * 24 + "was", "(" * 50 + "a" * 50):
        assert len(options_of(form)) < 40
    assert with_nouns("Nauseated and dizzy") == "nausea and dizziness"
