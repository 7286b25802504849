"""FHIR: each resource is valid by the published schema, and holds what the mention has."""

import gzip
import json

import pytest
from fhir.resources.R4B.parameters import Parameters

from spacy_pel.corpora.formats.fhir import P_NIL, P_RIGHT, SYSTEMS, write_fhir
from spacy_pel.util import read_jsonl


def mention(kb_id, text="CF", **more):
    name = None if kb_id in ("", "NIL") else f"name of {kb_id}"
    place = {"start": 0, "end": len(text), "text": text, "label": "DISEASE"}
    return place | {"kb_id": kb_id, "name": name, "probability": 0.96, "nil_score": 0.03} | more


def written(tmp_path, *mentions, document_id="1"):
    """The parts of each mention, after the schema has read the resource."""
    write_fhir(tmp_path / "out.ndjson", [{"id": document_id, "text": "…", "mentions": list(mentions)}])
    [resource] = read_jsonl(tmp_path / "out.ndjson")
    assert json.loads(Parameters.model_validate(resource).model_dump_json()) == resource
    first, *others = resource["parameter"]
    assert first == {"name": "document", "valueString": document_id}
    return [{part["name"]: part for part in one["part"]} for one in others]


def test_a_link(tmp_path):
    codes = {"MESH": ["D003550"], "ICD10CM": ["E84", "E84.9"], "HP": [], "HPX": ["7 7"]}
    [parts] = written(tmp_path, mention("C0010674", codes=codes))
    assert parts["start"]["valueInteger"] == 0 and parts["end"]["valueInteger"] == 2
    assert parts["label"]["valueString"] == "DISEASE"
    assert parts["concept"]["valueCodeableConcept"] == {
        "extension": [{"url": P_RIGHT, "valueDecimal": 0.96}, {"url": P_NIL, "valueDecimal": 0.03}],
        "coding": [
            {"system": "http://terminology.hl7.org/CodeSystem/umls", "code": "C0010674", "display": "name of C0010674"},
            {"system": "http://terminology.hl7.org/CodeSystem/MSH", "code": "D003550"},
            {"system": "http://hl7.org/fhir/sid/icd-10-cm", "code": "E84"},
            {"system": "http://hl7.org/fhir/sid/icd-10-cm", "code": "E84.9"},
            {"code": "HPX:7 7"},  # no system is known
        ],
        "text": "CF",
    }


def test_no_link(tmp_path):
    nil, unseen = written(tmp_path, mention("NIL"), mention("", probability=None))
    assert nil["concept"]["valueCodeableConcept"]["text"] == "CF"
    assert nil["concept"]["valueCodeableConcept"].keys() == {"extension", "text"}
    assert unseen["concept"]["valueCodeableConcept"] == {"text": "CF"}


def test_without_calibration(tmp_path):
    [parts] = written(tmp_path, mention("C0010674", probability=None, nil_score=0.4))
    assert "extension" not in parts["concept"]["valueCodeableConcept"]


def test_ingredients_are_not_codes_of_the_drug(tmp_path):
    codes = {"RXNORM": ["42844"], "RXNORM_INGREDIENT": ["161", "7804"]}
    write_fhir(tmp_path / "out.ndjson", [{"id": "1", "mentions": [mention("C0086787", codes=codes)], "text": ""}])
    [resource] = read_jsonl(tmp_path / "out.ndjson")
    Parameters.model_validate(resource)
    rxnorm = "http://www.nlm.nih.gov/research/umls/rxnorm"
    [parts] = [one["part"] for one in resource["parameter"][1:]]
    assert [one["valueCoding"] for one in parts if one["name"] == "ingredient"] == [
        {"system": rxnorm, "code": "161"},
        {"system": rxnorm, "code": "7804"},
    ]
    [concept] = [one["valueCodeableConcept"] for one in parts if one["name"] == "concept"]
    assert [one["code"] for one in concept["coding"]] == ["C0086787", "42844"]


@pytest.mark.parametrize(
    ("kb_id", "codes", "coding"),
    [
        ("HP:0001945", {"HP": ["HP:0001945"]}, {"system": SYSTEMS["HP"], "code": "HP:0001945"}),
        ("D003550", {}, {"system": SYSTEMS["MESH"], "code": "D003550"}),
        ("386661006", {"SNOMEDCT": ["386661006"]}, {"system": SYSTEMS["SNOMEDCT"], "code": "386661006"}),
        ("Orphanet:558", {}, {"system": SYSTEMS["ORPHA"], "code": "558"}),
        ("ICD10CM:J45909", {}, {"system": SYSTEMS["ICD10CM"], "code": "J45.909"}),
        ("ICD-10:J45", {}, {"system": SYSTEMS["ICD10"], "code": "J45"}),
        ("ICD10CM:J00-J99", {}, {"system": SYSTEMS["ICD10CM"], "code": "J00-J99"}),
        ("ICD9CM:4939", {}, {"system": SYSTEMS["ICD9CM"], "code": "493.9"}),
        ("ICD9CM:E8500", {}, {"system": SYSTEMS["ICD9CM"], "code": "E850.0"}),
        ("ward-7", {}, {"code": "ward-7"}),
        ("OWN:a  b", {}, {"code": "OWN:a b"}),
    ],
)
def test_the_system_of_an_id(tmp_path, kb_id, codes, coding):
    [parts] = written(tmp_path, mention(kb_id, codes=codes))
    assert parts["concept"]["valueCodeableConcept"]["coding"] == [coding | {"display": f"name of {kb_id}"}]


@pytest.mark.parametrize(("text", "shown"), [("a\x00b\nc", "a b\nc"), (" x ", "x"), ("🦶 é", "🦶 é"), ("\x01", None)])
def test_any_text(tmp_path, text, shown):
    [parts] = written(tmp_path, mention("NIL", text, label="", probability=None))
    assert "label" not in parts
    found = parts["concept"]["valueCodeableConcept"]["text"] if "concept" in parts else None
    assert found == shown


@pytest.mark.parametrize("document_id", ["", " \n", "\x00"])
@pytest.mark.parametrize("text", [None, " "])
def test_nothing_is_empty(tmp_path, document_id, text):
    """Neither lists nor strings, which FHIR forbids."""
    linked = [] if text is None else [mention("NIL", text, label=" ", probability=None)]
    write_fhir(tmp_path / "out.ndjson", [{"id": document_id, "text": " ", "mentions": linked}])
    [resource] = read_jsonl(tmp_path / "out.ndjson")
    assert json.loads(Parameters.model_validate(resource).model_dump_json()) == resource
    place = {"part": [{"name": "start", "valueInteger": 0}, {"name": "end", "valueInteger": 1}]}
    parameters = {"parameter": [{"name": "mention"} | place]} if linked else {}
    assert resource == {"resourceType": "Parameters"} | parameters


def test_ids_of_resources(tmp_path):
    path = tmp_path / "out.ndjson.gz"
    linked = [mention("C0010674"), mention("NIL", "gout")]
    records = [{"id": "PMC/1", "text": "CF", "mentions": linked}, {"id": "a-2", "text": "", "mentions": []}]
    write_fhir(path, records)
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert [line.get("id") for line in lines] == [None, "a-2"]  # FHIR's ids have no slash
