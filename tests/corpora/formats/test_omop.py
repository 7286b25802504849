"""OMOP: rows of NOTE_NLP as the published table of fields describes them."""

import csv
import re
from datetime import date, datetime

import pandas
import pytest

from spacy_pel import __version__
from spacy_pel.corpora.formats.omop import OmopConcepts, write_omop
from spacy_pel.errors import PelError

# cdmFieldName -> isRequired, cdmDatatype of note_nlp in OMOP_CDMv5.4_Field_Level.csv,
# https://github.com/OHDSI/CommonDataModel at 00169dde54c9e483f32ce69cf427b3ce8e86c294
FIELD_LEVEL = """note_nlp_id Yes integer, note_id Yes integer, section_concept_id No integer, snippet No varchar(250),
offset No varchar(50), lexical_variant Yes varchar(250), note_nlp_concept_id No integer,
note_nlp_source_concept_id No integer, nlp_system No varchar(250), nlp_date Yes date, nlp_datetime No datetime,
term_exists No varchar(1), term_temporal No varchar(50), term_modifiers No varchar(2000)"""
FIELDS = {name: (required == "Yes", kind) for name, required, kind in map(str.split, FIELD_LEVEL.split(","))}
READ = {"integer": int, "date": date.fromisoformat, "datetime": datetime.fromisoformat}
# as Athena writes it: tabs, no quoting, and quotation marks in names
CONCEPTS = """
concept_id|concept_name|domain_id|vocabulary_id|concept_class_id|standard_concept|concept_code|valid_start_date|valid_end_date|invalid_reason
317009|"made up|Condition|SNOMED|Disorder|S|195967001|20020131|20991231|
45766714|5" made "up"|Condition|SNOMED|Disorder||31387002|20020131|20991231|
45542738|made, up|Condition|ICD10CM|3-char nonbill code||J45|20020131|20991231|
725190|made up|Condition|ICD10CM|6-char billing code||J45.909|20020131|20991231|
1125315|made up|Drug|RxNorm|Ingredient|S|161|20020131|20991231|
19020053|made up|Drug|RxNorm|Brand Name||202433|20020131|20991231|
1|made up|Drug|NDC|Package||161|20020131|20991231|
4|"|Condition|SNOMED|Disorder||195967001|19700101|20020130|U
5|made up|Condition|SNOMED|Disorder|S|4557003|19700101|20020130|D
6|made up|Condition|LOINC|Class|C|LP1-1|19700101|20991231|
""".lstrip().replace("|", "\t")
RELATIONSHIPS = """
concept_id_1|concept_id_2|relationship_id|valid_start_date|valid_end_date|invalid_reason
45542738|317009|Maps to|19700101|20991231|
45766714|1|Maps to|19700101|20991231|D
45542738|2|Is a|19700101|20991231|
3|4|Maps to|19700101|20991231|
""".lstrip().replace("|", "\t")


def mention(start, end, kb_id, **more):
    return {"start": start, "end": end, "label": "X", "kb_id": kb_id, "probability": 0.9, "nil_score": 0.1} | more


def rows_of(path):
    """The rows, each cell of which is of its type."""
    with path.open(encoding="utf8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert list(row) == list(FIELDS)
        for name, (is_required, kind) in FIELDS.items():
            assert row[name] or not is_required
            if row[name] and kind in READ:
                READ[kind](row[name])
            elif longest := re.fullmatch(r"varchar\((\d+)\)", kind):
                assert len(row[name]) <= int(longest[1])
    return rows


@pytest.fixture(autouse=True)
def epoch(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


@pytest.fixture
def concepts(tmp_path):
    (tmp_path / "CONCEPT.csv").write_text(CONCEPTS, encoding="utf8")
    (tmp_path / "CONCEPT_RELATIONSHIP.csv").write_text(RELATIONSHIPS, encoding="utf8")
    return tmp_path / "CONCEPT.csv"


def test_rows(tmp_path):
    text = 'No asthma,\n"no" gout.'
    codes = {"MESH": ["D001249"], "ICD10CM": ["J45", "J45.909"], "LOINC": []}
    mentions = [mention(3, 9, "C0004096", relation="broader", codes=codes, exists=False)]
    mentions += [mention(16, 20, "NIL", probability=None, exists=True), mention(0, 2, "")]
    records = [{"id": "17", "text": text, "mentions": mentions}, {"id": "18", "text": "", "mentions": []}]
    write_omop(tmp_path / "out.csv", [*records, {**records[0], "id": "19"}])
    first, second, third, *others = rows_of(tmp_path / "out.csv")
    assert first == {
        **{"note_nlp_id": "1", "note_id": "17", "section_concept_id": "0", "snippet": 'No asthma, "no" gout.'},
        **{"offset": "3", "lexical_variant": "asthma", "note_nlp_concept_id": "0", "note_nlp_source_concept_id": "0"},
        **{"nlp_system": f"spacy-pel {__version__}", "nlp_date": "2023-11-14", "nlp_datetime": "2023-11-14 22:13:20"},
        **{"term_exists": "N", "term_temporal": ""},
        "term_modifiers": "id=C0004096;p_right=0.9;relation=broader;MESH=D001249;ICD10CM=J45,J45.909",
    }
    assert second["lexical_variant"] == "gout" and second["term_modifiers"] == "id=NIL"
    assert third["term_modifiers"] == "id=NIL;p_right=0.9"
    assert (second["term_exists"], third["term_exists"]) == ("Y", "")
    assert [row["note_nlp_id"] for row in others] == ["4", "5", "6"] and others[0]["note_id"] == "19"


@pytest.mark.parametrize("text", ["heart\nattack", "heart\r\nattack", "heart\rattack", 'a\t"heart"'])
def test_the_variant_is_raw_text(tmp_path, text):
    record = {"id": "1", "text": f"No {text}.", "mentions": [mention(3, 3 + len(text), "C1")]}
    write_omop(tmp_path / "out.csv", [record, {**record, "id": "2"}])
    rows = rows_of(tmp_path / "out.csv")
    assert [(row["note_id"], row["lexical_variant"]) for row in rows] == [("1", text), ("2", text)]
    frame = pandas.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert frame["lexical_variant"].tolist() == [text, text]
    assert "\n" not in rows[0]["snippet"] and rows[0]["offset"] == "3"


def test_long_texts_and_many_codes(tmp_path):
    text = "x " * 500
    codes = {"SNOMEDCT": [str(10**8 + i) for i in range(300)], "MESH": ["D1"]}
    mentions = [mention(600, 606, "C1"), mention(0, 900, "C2", codes=codes)]
    write_omop(tmp_path / "out.csv", [{"id": "1", "text": text, "mentions": mentions}])
    first, second = rows_of(tmp_path / "out.csv")
    assert len(first["snippet"]) == 250 and first["snippet"] == text[478:728]
    assert second["lexical_variant"] == text[:250] and second["term_modifiers"] == "id=C2;p_right=0.9"


@pytest.mark.parametrize(
    ("codes", "standard", "source"),
    [
        ({"SNOMEDCT": ["195967001"]}, 317009, 317009),
        ({"SNOMEDCT": ["31387002", "195967001"]}, 317009, 317009),  # the first that has a standard concept
        ({"SNOMEDCT": ["31387002"]}, 0, 45766714),
        ({"SNOMEDCT": ["4557003"]}, 0, 5),  # no longer valid
        ({"LOINC": ["LP1-1"]}, 0, 6),  # of a classification
        ({"ICD10CM": ["J45.909", "J45"]}, 317009, 45542738),
        ({"ICD10CM": ["J45909"]}, 0, 725190),  # Athena's codes have dots
        ({"RXNORM": ["202433"], "RXNORM_INGREDIENT": ["161"]}, 1125315, 1125315),
        ({"MESH": ["D001249"]}, 0, 0),
        ({"SNOMEDCT": []}, 0, 0),
    ],
)
def test_concepts(tmp_path, concepts, codes, standard, source):
    found = OmopConcepts.read(concepts, list(codes))
    record = {"id": "1", "text": "asthma", "mentions": [mention(0, 6, "C0004096", codes=codes)]}
    write_omop(tmp_path / "out.csv", [record], concepts=found)
    [row] = rows_of(tmp_path / "out.csv")
    assert (row["note_nlp_concept_id"], row["note_nlp_source_concept_id"]) == (str(standard), str(source))


def test_without_relationships(concepts):
    concepts.with_name("CONCEPT_RELATIONSHIP.csv").unlink()
    assert OmopConcepts.read(concepts, ["ICD10CM"]).of({"ICD10CM": ["J45"]}) == (0, 45542738)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", "columns of Athena's table .concept_id"),
        ("concept_id,name\n", "columns of Athena's table .concept_id"),
        (CONCEPTS.replace("\t", ","), "line 2.*quotation marks"),
        (CONCEPTS.replace("317009\t", "\t"), "got ''"),
        (CONCEPTS + "1\tx\n", "line 12, got 2"),
    ],
)
def test_another_table(concepts, table, message):
    concepts.write_text(table, encoding="utf8")
    with pytest.raises(PelError, match=rf"PEL-E002.*{message}"):
        OmopConcepts.read(concepts, ["SNOMEDCT"])


@pytest.mark.parametrize("document_id", ["PMC1", "1.5", "-", "1e3"])
def test_notes_have_integers_as_ids(tmp_path, document_id):
    with pytest.raises(PelError, match=f"PEL-E692.*'{document_id}'"):
        write_omop(tmp_path / "out.csv", [{"id": document_id, "text": "x", "mentions": [mention(0, 1, "C1")]}])
    assert not (tmp_path / "out.csv").exists()
