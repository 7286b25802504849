"""link --codes: what each format holds, and what is refused before anything is linked."""

import csv

import pytest

from spacy_pel.corpora import read_links
from spacy_pel.util import read_jsonl, write_jsonl

from .conftest import done, refused

pytestmark = pytest.mark.slow

TEXT = "No heart attack, no influenza, no zebra fish."
CODES = {"heart attack": {"MESH": ["D000002"], "ICD10CM": ["A02.1", "A02.2"]}}
NONE = {"MESH": [], "ICD10CM": []}


@pytest.fixture
def texts(tmp_path):
    write_jsonl(tmp_path / "in.jsonl", [{"id": "7", "text": TEXT.lower()}])
    return tmp_path / "in.jsonl"


def mentions(path):
    [document] = read_links(path)
    return {one["text"]: one["codes"] for one in document["mentions"]}


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
@pytest.mark.parametrize("codes", [["msh", "--codes", "icd-10-cm"], ["all"]])
def test_codes(folder, texts, tmp_path, name, codes):
    done("link", folder / "pipeline", texts, tmp_path / name, "--codes", *codes)
    found = mentions(tmp_path / name)
    assert found == {"heart attack": CODES["heart attack"], "influenza": NONE, "zebra fish": NONE}  # the latter is NIL
    assert sorted(found["influenza"]) == sorted(NONE)


def test_tables_and_annotations(folder, texts, tmp_path):
    for name in ("out.csv", "out.xml", "out.brat"):
        done("link", folder / "pipeline", texts, tmp_path / name, "--codes", "MESH,ICD10CM")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["MESH"], row["ICD10CM"]) for row in rows] == [
        *(("C2", "D000002", "A02.1|A02.2"), ("C7", "", ""), ("NIL", "", ""))
    ]
    xml = (tmp_path / "out.xml").read_text()
    assert '<infon key="codes ICD10CM">A02.1, A02.2</infon>' in xml and xml.count('"codes MESH"') == 1
    assert "#1\tAnnotatorNotes T1\tMESH D000002; ICD10CM A02.1, A02.2\n" in (tmp_path / "out.brat/7.ann").read_text()
    for name, reader in (("out.xml", "bioc"), ("out.brat", "brat")):  # codes are not ids
        done("convert", tmp_path / "back.jsonl", "--reader", reader, tmp_path / name)
        [document] = read_jsonl(tmp_path / "back.jsonl")
        assert [one["ids"] for one in document["mentions"]] == [["C2"], ["C7"], []]


def test_omop(folder, texts, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    concepts = tmp_path / "CONCEPT.csv"
    header = ["concept_id", "vocabulary_id", "concept_code", "standard_concept", "invalid_reason"]
    concepts.write_text("\t".join(header) + "\n5\tMeSH\tD000002\tS\t\n")
    args = ["link", folder / "pipeline", texts, tmp_path / "out.csv", "--to", "omop", "--codes", "MESH"]
    done(*args, "--omop-concepts", concepts)
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["note_id"], row["lexical_variant"], row["note_nlp_concept_id"]) for row in rows] == [
        *(("7", "heart attack", "5"), ("7", "influenza", "0"), ("7", "zebra fish", "0"))
    ]
    assert rows[0]["term_modifiers"].endswith("MESH=D000002") and rows[0]["nlp_date"] == "2023-11-14"
    again = done(*args, "--resume", "--json").json
    assert (again["documents"], again["mentions"], again["nil"]) == (1, 3, 1)


def test_refused_before_linking(folder, texts, tmp_path):
    args = ["link", folder / "pipeline", texts, tmp_path / "out.csv", "--json"]
    error = refused("E128", *args, "--codes", "MESH,ICD10")
    assert "got 'ICD10' (did you mean 'ICD10CM'?). It has (entities): 'ICD10CM' (7), 'MESH' (7)." in error
    assert "needs" not in refused("E128", *args, "--codes", "RXNORM_INGREDIENT")
    for more in (["--to", "omop"], ["--codes", "MESH"], []):
        refused("E690", *args, *more, "--omop-concepts", tmp_path / "CONCEPT.csv")
    refused("E002", *args, "--to", "omop", "--codes", "MESH", "--omop-concepts", tmp_path / "CONCEPT.csv")
    write_jsonl(texts, [{"id": 1, "text": "fever"}, {"id": "PMC1", "text": "fever"}])
    assert "--id-column" in refused("E692", *args, "--to", "omop")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("name", ["out.tsv", "out.parquet"])
def test_a_finished_output_has_the_codes_or_not(folder, texts, tmp_path, name):
    args = ["link", folder / "pipeline", texts, tmp_path / name]
    done(*args, "--codes", "MESH")
    done(*args, "--codes", "msh", "--resume")
    assert "codes changed" in refused("E638", *args, "--codes", "MESH,ICD10CM", "--resume")
