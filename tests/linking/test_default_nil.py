"""The NIL model that needs no calibration: 200 codes of heart and lung, real encoders, no annotated text."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spacy_pel.candidates.evidence import NAMED, unrelated_cosines
from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery
from spacy_pel.linking.nil import LogisticNil, default_inputs
from spacy_pel.types import NIL, UNRELATED, Entity

from .annotated import hashed_linker, tfidf_linker
from .tables import table_of as listed

ROOT = Path(__file__).parents[2]
ENCODER = ROOT / "assets" / "pel_medmentions" / "proxy_entity_linker" / "encoder"
CODES = ROOT / "tests" / "fixtures" / "codes" / "heart_and_lung.csv"  # of the Disease Ontology, CC0
NAMES = {  # as written in the table
    "myocardial infarction": "DOID:5844",
    "Heart attack": "DOID:5844",
    "mucoviscidosis": "DOID:1485",
    "COPD": "DOID:3083",
    "mitral stenosis": "DOID:1754",
}
VARIANTS = {
    "myocardial infarctions": "DOID:5844",
    "myocardial infarcton": "DOID:5844",
    "atrial fibrillations": "DOID:0060224",
    "Fallot's tetralogy": "DOID:6419",
    "pulmonary emboli": "DOID:9477",
}
SYNONYMS = {
    "inflammation of the myocardium": "DOID:820",
    "tuberculosis of the lung": "DOID:2957",
    "congestive cardiac failure": "DOID:6000",
    "cardiac disease": "DOID:114",
}
OUTSIDE = ["COVID-19", "fibromyalgia", "cephalgia newcomer", "migraine", "headache", "insulin", "epilepsy"]
OUTSIDE += ["students", "malaria", "knee", "aspirin", "gastric ulcer", "BRCA1", "depression"]


@pytest.fixture(scope="module")
def kb():
    with CODES.open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    aliases = [tuple(name for name in row["synonyms"].split("|") if name) for row in rows]
    return KnowledgeBase([Entity(row["code"], row["name"], own) for row, own in zip(rows, aliases, strict=True)])


def ask(surfaces):
    text = "The patient had a history of {} and was admitted in March."
    start = text.index("{}")
    return [MentionQuery(text.format(one), start, start + len(one), "") for one in surfaces]


def ids(linker, surfaces):
    return {one: link.kb_id for one, link in zip(surfaces, linker.link(ask(surfaces)), strict=True)}


@pytest.mark.slow
def test_what_the_codes_lack_is_nil_and_what_they_have_is_linked(kb):
    linker = hashed_linker(kb, encoder=load_encoder(ENCODER))
    known = {**NAMES, **VARIANTS, **SYNONYMS}
    assert ids(linker, list(known)) == known
    assert set(ids(linker, OUTSIDE).values()) == {NIL}
    linker.threshold = 1.0  # a setting that links all
    assert NIL not in ids(linker, OUTSIDE).values()


def test_the_same_weights_suit_vectors_that_know_letters_alone(kb):
    linker = hashed_linker(kb)
    assert ids(linker, [*NAMES, *VARIANTS]) == {**NAMES, **VARIANTS}
    assert set(ids(linker, OUTSIDE).values()) == {NIL}


def test_generators_without_vectors_are_judged_by_spelling(kb):
    linker = tfidf_linker(kb)
    assert ids(linker, list(NAMES)) == NAMES
    # letters alone mislead: "depression" and "hypertension"
    assert list(ids(linker, OUTSIDE).values()).count(NIL) >= len(OUTSIDE) - 1
    variants = ["myocardial infarcton", "atrial fibrillations"]
    assert ids(linker, variants) == {one: VARIANTS[one] for one in variants}
    # a generator's scores may have any scale
    table = linker.evidence(ask([*NAMES, *OUTSIDE]))
    scores = linker.decider.combiner(table)
    before = linker.decider.nil_model(table, scores)
    table.features["name"] *= 100
    np.testing.assert_array_equal(linker.decider.nil_model(table, scores), before)


@pytest.mark.parametrize("n", [1, 2, 20])
def test_names_are_linked_in_knowledge_bases_of_any_size(n):
    kb = KnowledgeBase([Entity(f"E{i}", f"{word} fever") for i, word in enumerate(WORDS[:n])])
    linker = hashed_linker(kb)
    assert ids(linker, ["yellow fever", "yelow fever"]) == {"yellow fever": "E0", "yelow fever": "E0"}
    assert ids(linker, ["students"]) == {"students": NIL}


WORDS = "yellow dengue swamp quartan relapsing trench hay rat milk phlebotomus valley spotted lassa".split()
WORDS += "scarlet marsh jail camp glandular puerperal rheumatic".split()


def table_of(name, **features):
    """One mention; features that are not given are 0."""
    given = {"name": name, "mention": np.zeros(len(name)), "vote": np.zeros(len(name)), **features}
    return listed([range(len(name))], **{key: [values] for key, values in given.items()})


@pytest.mark.parametrize("name", NAMED)
def test_what_leads_to_a_name_counts_as_a_name(name):
    """ "Hepatic" is spelled like nothing that the knowledge base has, but it has the liver."""
    cosines = np.linspace(0.9, 0.1, 9)
    scores = np.eye(9, dtype=np.float32)[[1]]
    table = table_of(cosines, **{name: scores[0]})
    assert default_inputs(table, scores)["exact"].tolist() == [1.0]
    model = LogisticNil()
    assert model(table, scores)[0] < model(table_of(cosines), scores)[0] - 0.2


def test_inputs_by_hand():
    cosines = np.linspace(0.9, 0.1, 9)
    edit = np.zeros(9)
    edit[1] = 0.7
    prior = np.zeros(9)
    prior[1] = 0.4
    table = table_of(cosines, edit=edit, partial=edit, prior=prior).plus({}, {UNRELATED: np.float32([0.1])})
    scores = np.eye(9, dtype=np.float32)[[1]]  # the combiner's first is the second by cosine, 0.8
    found = {key: values.tolist() for key, values in default_inputs(table, scores).items()}
    assert found["exact"] == [pytest.approx(0.4)]
    assert found["edit"] == found["partial"] == [pytest.approx(0.7)]
    assert found["distance"] == [pytest.approx((1 - 0.8) / (1 - 0.1))]
    not_known = replace(table, of_mentions={})
    assert default_inputs(not_known, scores)["distance"] == [pytest.approx(1 - 0.8)]


@pytest.mark.parametrize(("n", "rank"), [(9, 8), (21, 10), (100, 50), (128, 64), (301, 64)])
def test_the_65th_nearest_entity_is_unrelated(n, rank):
    cosines = np.random.default_rng(0).permutation(np.linspace(0.9, 0.0, n)).astype(np.float32)
    mentions = np.repeat([0, 2], [n, 8])  # the second has no entity, the third too few
    unrelated = unrelated_cosines(mentions, np.append(cosines, cosines[:8]), 3)
    assert unrelated.tolist() == [pytest.approx(np.sort(cosines)[::-1][rank]), 0.0, 0.0]


def test_an_annotated_mention_speaks_for_its_entity():
    """Cosines of annotated mentions count where one was found, and so does what the form named before."""
    unknown = table_of(np.linspace(0.4, 0.1, 20))
    near = table_of(np.linspace(0.4, 0.1, 20), mention=np.full(20, 0.9), vote=np.eye(20)[0])
    named = table_of(np.linspace(0.4, 0.1, 20), prior=np.eye(20)[0])
    model, scores = LogisticNil(), np.linspace(1, 0, 20, dtype=np.float32)[None]
    for table in (unknown, near, named):
        table.vectors = np.zeros((1, 4), dtype=np.float32)
    without, mention, prior = (float(model(table, scores)[0]) for table in (unknown, near, named))
    assert without > 0.9 and without - mention > 0.25 and without - prior > 0.2
