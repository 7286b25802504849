"""What the shipped knowledge base knows, and what it is called: lists that were written before it was looked at."""

from itertools import chain
from pathlib import Path

import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.kb.check import check
from spacy_pel.util import normalize_alias, read_lines
from spacy_pel.util.config import load_config

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "assets" / "pel_medmentions" / "proxy_entity_linker" / "kb"
LISTS = ROOT / "tests" / "fixtures" / "common"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs the default pipeline")


@pytest.fixture(scope="module")
def kb():
    return KnowledgeBase.from_disk(FOLDER)


def common(name):
    return [line.strip() for _, line in read_lines(LISTS / f"{name}.txt")]


@pytest.mark.parametrize(
    "name,n,floor", [("drugs", 100, 99), ("modern_drugs", 60, 57), ("lab_tests", 50, 42), ("procedures", 50, 45)]
)
def test_common_names_are_in_the_default_kb(kb, name, n, floor):
    names = common(name)
    missing = [one for one in names if not kb.ids(one)]
    assert len(set(names)) == n and n - len(missing) >= floor, missing


def test_common_terms_are_preferred_names(kb):
    names = common("diseases_symptoms_organs")
    others = [
        name
        for name in names
        if normalize_alias(name) not in [normalize_alias(kb[key].canonical_name) for key in kb.ids(name)]
    ]
    assert len(set(names)) == 100 and len(others) <= 2, others


def test_ingredients_of_brands(kb):
    brands = {"Percocet": ["161", "7804"], "Advil": ["5640"], "Norco": ["161", "5489"], "Janumet": ["6809", "593411"]}
    assert {name: kb.codes(kb.ids(name)[0], "RXNORM_INGREDIENT") for name in brands} == brands


@pytest.mark.parametrize(
    "name, entity_id",
    [
        ("duodenal ulcer", "C0013295"),
        ("gastritis", "C0017152"),
        ("hernia", "C0019270"),
        ("colitis", "C0009319"),
        ("dermatitis", "C3875321"),
        ("lupus", "C0409974"),
        ("irritability", "C0022107"),
        ("aspirin", "C0004057"),
    ],
)
def test_the_entity_that_is_called_so(kb, name, entity_id):
    assert entity_id in kb.ids(name)


def test_forms_of_annotated_text_are_no_names(kb):
    assert kb.ids("patients") == [] and "anti-cancer" not in kb["C0243095"].aliases
    assert kb["C0010474"].canonical_name == "Curling Ulcer"


def test_drugs_of_today_and_procedures_have_codes_of_their_own(kb):
    (semaglutide,) = kb.ids("semaglutide")
    assert semaglutide.startswith("RXNORM:")
    assert {xref.partition(":")[0] for xref in kb.xrefs(semaglutide)} >= {"RXNORM", "UNII", "DRUGBANK"}
    (ozempic,) = kb.ids("Ozempic")
    assert kb[ozempic].parents == (semaglutide,)
    assert kb.ids("vasectomy") == ["MESH:D014659"] and "T061" in kb["MESH:D014659"].types


def test_the_primary_code_comes_first(kb):
    assert [kb.codes("C0020538", name)[0] for name in ("ICD10CM", "SNOMEDCT")] == ["I10", "38341003"]


def test_it_passes_its_own_audit(kb):
    found = {finding.kind: finding for finding in check(kb, top=60)}
    assert not any(finding.count for finding in found.values() if finding.level == "error")
    assert found["twins"].count <= 60, "true homonyms"
    ontologies = ("HP", "ORPHA", "DOID", "EFO", "MONDO", "UBERON")
    assert not [case.what for case in found["shared_code"].worst if case.what.startswith(ontologies)]


def test_licensed_vocabularies_leave_the_codes_of_the_default(kb):
    vocabularies = {xref.partition(":")[0] for xref in chain.from_iterable(entity.xrefs for entity in kb.entities())}
    assert len(vocabularies) >= 15
    assert vocabularies <= set(load_config(ROOT / "configs" / "licensed.cfg", {})["merge"]["xrefs"])
