"""Candidates whose names contradict the surface form."""

import numpy as np
import pytest

from spacy_pel.candidates.evidence.opposites import opposites
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking.combiners.linear import LinearCombiner
from spacy_pel.types import Entity

from .gathering import gather


def contradicts(form, *names):
    kb = KnowledgeBase([Entity("X", names[0], aliases=names[1:])])
    return bool(opposites(kb, [form], np.array([[0]]))[0, 0])


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("high blood pressure", ["Hypotension"]),
        ("elevated blood pressure", ["Arterial hypotension", "Low blood pressure", "hypopiesis"]),
        ("low platelets", ["Thrombocytosis"]),
        ("increased calcium", ["Hypocalcemia", "Decreased serum calcium"]),
        ("large head", ["Microcephaly"]),
        ("macrocytic anemia", ["microcytic anemia"]),
        ("low heart rate", ["Tachycardia"]),
        ("high birth weight", ["Small for gestational age"]),
        ("left atrium", ["right atrium"]),
        ("upper limb", ["lower limb", "leg"]),
        ("distal tubule", ["proximal tubule"]),
        ("acute pancreatitis", ["chronic pancreatitis"]),
        ("benign neoplasm", ["malignant neoplasm"]),
        ("female infertility", ["male infertility"]),
        ("weight gain", ["weight loss"]),
        ("type 2 diabetes", ["type 1 diabetes", "diabetes mellitus type i"]),
        ("stage iv", ["Stage 3"]),
        ("negative regulation of growth", ["positive regulation of growth"]),
    ],
)
def test_the_other_side_contradicts(form, names):
    assert contradicts(form, *names)


@pytest.mark.parametrize(
    ("form", "names"),
    [
        ("high blood pressure", ["Hypertension"]),
        ("high blood pressure", ["blood pressure"]),  # says nothing of it
        ("blood pressure", ["Hypotension"]),
        ("low platelets", ["Thrombocytopenia", "Low platelet count"]),
        ("elevated neutrophils", ["Neutrophilia", "Increased neutrophil count"]),
        ("high hdl and low ldl", ["Low LDL"]),  # says both
        ("acute kidney injury", ["chronic kidney disease", "acute on chronic kidney disease"]),
        ("microtubule", ["macrophage"]),
        ("hypothalamus", ["hyperplasia"]),
        ("endocytosis", ["low"]),
        ("type ii diabetes", ["type 2 diabetes"]),
        ("type 2 gaucher disease", ["Gaucher disease", "glucocerebrosidase deficiency 1"]),  # the disease of all types
        ("il 2", ["interleukin"]),
        ("99mtc", ["technetium 99"]),
        ("hypertension", ["high", "low"]),
    ],
)
def test_agreement_and_silence_do_not(form, names):
    assert not contradicts(form, *names)


def test_of_several_mentions_and_candidates_and_retired_entities():
    kb = KnowledgeBase(
        [Entity("L", "left eye"), Entity("R", "right eye"), Entity("OLD", "right ear"), Entity("E", "eye")]
    )
    kb.retire(["OLD"])
    found = opposites(kb, ["left eye", "eye", "right eye"], np.array([[0, 1, 2, 3], [0, 1, -1, -1], [1, 0, 3, -1]]))
    assert found.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert opposites(kb, [], np.empty((0, 0), dtype=np.int64)).shape == (0, 0)


def test_what_contradicts_does_not_come_first():
    kb = KnowledgeBase([Entity("LEFT", "sinister iliac artery (on the left)"), Entity("RIGHT", "right iliac artery")])
    table = gather(kb, "left iliac artery")
    ranked = [LinearCombiner(), LinearCombiner()]
    ranked[1].weights["opposite_unseen"] = 0.0
    assert [kb.id_at(table.kb_rows[0, combiner(table).argmax()]) for combiner in ranked] == ["LEFT", "RIGHT"]
