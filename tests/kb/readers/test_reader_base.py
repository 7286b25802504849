"""Repairs, filters and errors that all readers share, shown with JSON lines and tables."""

import json
import re

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.readers.csv_kb import CsvKB
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.kb.readers.medic_kb import MedicKB
from spacy_pel.types import Entity


def record(concept_id, name, **more):
    return {"concept_id": concept_id, "canonical_name": name, **more}


@pytest.fixture
def write(tmp_path):
    def write_lines(*lines, name="kb.jsonl"):
        path = tmp_path / name
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("\n".join(texts), encoding="utf8")
        return path

    return write_lines


FAULTS = {
    "empty_id": [record(" ", "nobody")],
    "nameless": [record("X:1", "", aliases=["  "])],
    "empty_name": [record("X:1", " ", aliases=["", "only alias"])],
    "duplicate_id": [record("A", "again")],
    "unknown_key": [record("X:1", "one", note="uno")],
}


@pytest.mark.parametrize("kind", FAULTS)
def test_repairs_are_counted_and_strict_refuses(write, kind):
    path = write(record("A", "first"), "", *FAULTS[kind])
    reader = JsonlKB()
    entities = list(reader([path]))
    assert reader.report == {kind: 1}
    assert [e.canonical_name for e in entities] == {
        "empty_name": ["first", "only alias"],
        "unknown_key": ["first", "one"],
        "duplicate_id": ["first", "again"],  # the knowledge base merges them
    }.get(kind, ["first"])
    with pytest.raises(PelError, match=rf"kb\.jsonl, line 3: .*{kind}"):
        list(JsonlKB(strict=True)([path]))


def test_faults_of_filtered_entities_do_not_matter(write):
    path = write(record("A:1", "kept", types=["t"]), record("B:1", ""), record("B:1", ""), record("A:2", ""))
    assert len(list(JsonlKB(types=["t"], id_prefix="A:", strict=True)([path]))) == 1


@pytest.mark.parametrize(
    "line",
    ['{"concept_id": "A"', "[1]", '{"concept_id": "A"}', '{"concept_id": 1.5, "canonical_name": "a"}']
    + ['{"concept_id": "A", "canonical_name": "a", "aliases": "b"}', '{"cui": "A", "name": "a", "synonyms": "b"}'],
)
def test_broken_json_lines_are_errors(write, line):
    with pytest.raises(PelError, match=r"kb\.jsonl, line 2"):
        list(JsonlKB()([write(record("Z", "z"), line)]))


def test_json_lines_have_the_names_that_other_tools_use(write):
    theirs = {"cui": "C1", "name": "fever", "synonyms": ["pyrexia"], "type": "T184", "source_ids": ["MESH:D005334"]}
    path = write(theirs, {**record("C2", "cough"), "id": "7", "parents": ["C1"]})
    reader = JsonlKB()
    assert list(reader([path])) == [
        Entity("C1", "fever", ("pyrexia",), ("T184",), xrefs=("MESH:D005334",)),
        Entity("C2", "cough", parents=("C1",)),
    ]
    assert reader.report == {"unknown_key": 1}, "a field's own name comes before another"


def test_names_are_tidied(write):
    lists = {"aliases": ["a b", "c", " c", ""], "types": ["t", "t"], "parents": ["B ", "B"]}
    path = write(record(" A ", " a  b\n", **lists, definition=" "))
    (entity,) = JsonlKB(strict=True)([path])
    assert entity.to_json() == record("A", "a b", aliases=["c"], types=["t"], definition=None, parents=["B"])


def test_cross_references_have_one_spelling(write):
    path = write(record("A", "a", xrefs=["MSH:D1", " MESH:D1", "SNOMEDCT_US_2016_03_01:2", "x:3"]))
    (entity,) = JsonlKB(strict=True)([path])
    assert entity.xrefs == ("MESH:D1", "SNOMEDCT:2", "x:3")


def test_csv_names_the_columns_that_are_not_read(write, caplog):
    first = write("Code;Name;Synonims;notes;", "A1;Gout;Podagra;x;", name="a.csv")
    second = write("Code;Name;Synonims;page", "A2;Asthma;;7", name="b.csv")
    reader = CsvKB()
    for _ in range(2):
        caplog.clear()
        assert len(list(reader([first, second]))) == 2 and reader.report == {"unknown_column": 4}
        (said,) = [one.getMessage() for one in caplog.records if "PEL-W107" in one.getMessage()]
        assert re.search(r"a\.csv, line 1: .*'Synonims', 'notes', 'page' \([^)]*b\.csv, line 1\)", said)
    with pytest.raises(PelError, match="line 1.*'Synonims'"):
        list(CsvKB(strict=True)([first]))
    caplog.clear()
    # of two columns that could be a field, none is read
    both = write("id,name,synonym,alias,definitions,description", "A1,Gout,a,b,c,d", name="kb.csv")
    assert [one.aliases for one in CsvKB()([both])] == [()]
    assert "'synonym', 'alias', 'definitions'. Known" in caplog.text


def test_jsonl_names_the_keys_that_are_not_read(write, caplog):
    lines = [record(f"A{n}", f"name {n}", synonims=["x"], seen=n) for n in range(3)]
    path = write(record("B", "b", aliases=["c"]), *lines, record("C", "c", page=1))
    assert len(list(JsonlKB()([path]))) == 5
    (said,) = [one.getMessage() for one in caplog.records if "PEL-W107" in one.getMessage()]
    assert re.search(r"kb\.jsonl, line 2: .*'synonims', 'seen', 'page' \(.*kb\.jsonl, line 5\)", said)
    caplog.clear()
    many = write(*(record(f"A{n}", "name", **{f"key {n}": n}) for n in range(2000)))
    assert len(list(JsonlKB()([many]))) == 2000 and "'key 9' (" in caplog.text and "key 10" not in caplog.text


@pytest.mark.parametrize("name", ["kb.csv", "kb.jsonl"])
def test_one_id_with_several_names_is_said(write, caplog, name):
    rows = [("A1", "Gout"), ("A1", "Asthma"), ("B2", "Stroke"), ("B2", "stroke"), ("A1", "Fever: high")]
    table = name == "kb.csv"
    lines = ["code,name", *map(",".join, rows)] if table else [record(*row) for row in rows]
    path = write(*lines, name=name)
    reader = CsvKB() if table else JsonlKB()
    for _ in range(2):
        caplog.clear()
        assert len(list(reader([path]))) == 5 and reader.report == {"duplicate_id": 3}
        (said,) = [one.getMessage() for one in caplog.records if "PEL-W108" in one.getMessage()]
        at = 2 if table else 1
        assert f"'A1' is 'Gout' and 'Asthma' ({path}, line {at + 1});" in said
        assert f"'A1' is 'Gout' and 'Fever: high' ({path}, line {at + 4})" in said


def test_csv_names_of_columns_in_any_case(write):
    path = write("ICD10 Code,Name", "A1,Gout", name="kb.csv")
    for named in ("ICD10 Code", "icd10 code", "Icd10_Code"):
        (entity,) = CsvKB(columns={"concept_id": named}, strict=True)([path])
        assert entity.concept_id == "A1"
    both = write("icd,ICD,Name", "a,b,Gout", name="kb.csv")
    assert [one.concept_id for one in CsvKB(columns={"concept_id": "ICD"})([both])] == ["b"]
    with pytest.raises(PelError, match=r"one column Icd at"):
        list(CsvKB(columns={"concept_id": "Icd"})([both]))


HEADER = "concept_id,canonical_name,aliases"
COLUMNS = {  # cells of the aliases -> what becomes of them, the warning
    "a bar": (["T2DM|NIDDM", "a"], [("T2DM", "NIDDM"), ("a",)], None),
    "semicolons": (["a", "b;c;d-e", "x; y"], [("a",), ("b;c;d-e",), ("x; y",)], "W101.*line 3.*'b;c;d-e'. If ';'"),
    "lines": (["T2DM\nadult-onset"], [("T2DM adult-onset",)], r"W101.*'T2DM.nadult-onset'. If '.n'"),
    "a bar in another cell": (["x;y", "a|b", "z"], [("x;y",), ("a", "b"), ("z",)], None),
    "HTML": (["&beta;-blocker", "x;"], [("β-blocker",), ("x;",)], None),
    "commas": (["MI, heart attack, coronary", ""], [("MI, heart attack, coronary",), ()], "W101.*line 2.*'MI.*If ','"),
    "inverted names": (["Edema, Acute", "Lymphoma, NOS"], [("Edema, Acute",), ("Lymphoma, NOS", "Lymphoma")], None),
}


@pytest.mark.parametrize("cells, aliases, warning", COLUMNS.values(), ids=list(COLUMNS))
def test_csv_lists_in_one_cell(write, caplog, cells, aliases, warning):
    path = write(HEADER, *(f'C{i},name {i},"{cell}"' for i, cell in enumerate(cells)), name="kb.csv")
    assert [entity.aliases for entity in CsvKB()([path])] == aliases
    assert re.search(warning, caplog.text) if warning else "PEL-W" not in caplog.text


def test_csv_types_may_have_commas(write, caplog):
    kind = "Amino Acid, Peptide, or Protein"
    path = write("concept_id,canonical_name,types", f'C1,insulin,"{kind}"', name="kb.csv")
    assert [entity.types for entity in CsvKB()([path])] == [(kind,)]
    assert "PEL-W" not in caplog.text


def test_csv_the_setting_decides(write, caplog):
    path = write(HEADER, "C1,a,", "C2,b,Deficiency; iron", 'C3,c,"1,2;3,4-diepoxybutane"', name="kb.csv")
    for separator, names in (("|", ("Deficiency; iron",)), (";", ("Deficiency", "iron"))):
        reader = CsvKB(list_separator=separator, strict=True)
        assert [entity.aliases for entity in reader([path])][1] == names and "PEL-W" not in caplog.text
    for settings, said in (({"list_separator": ""}, "at list_sep"), ({"columns": {"no": "x"}}, "fields among")):
        with pytest.raises(PelError, match=said):
            CsvKB(**settings)


def test_csv_row_faults_name_the_line(write):
    for row in ("x", 'x,"y', 'x,"y"z'):
        with pytest.raises(PelError, match=r"kb\.csv, line 2"):
            list(CsvKB()([write("concept_id,canonical_name", row, name="kb.csv")]))
    cells = "x,y,a name," + 1000 * "z"
    with pytest.raises(PelError, match=r"Expected 2 cells .* got 4: \['x', 'y', 'a name', 'z+\.\.\.z+'\]\. Quote"):
        list(CsvKB()([write("concept_id,canonical_name", cells, name="kb.csv")]))


def test_medic_ids_and_names(write):
    path = write(
        "D1|263700|C9||Sj&#246;gren&apos;s|SS",
        "C9||Own row",
        "607907|263700||By number",
        "MESH:D5||one",
        "MESH:D5||two",
        name="medic.txt",
    )
    reader = MedicKB()
    entities = {e.concept_id: (e.canonical_name, *e.aliases) for e in reader([path])}
    assert entities == {
        "D1": ("Sjögren's", "SS"),
        "C9": ("Own row",),
        "OMIM:607907": ("By number",),
        "D5": ("one", "two"),
    }
    # C9 has a row of its own, so it is no redirect; the first row wins an id of two rows
    assert reader.redirects == {"OMIM:263700": "D1"}
    assert reader.report == {"ambiguous_redirect": 1}
    with pytest.raises(PelError, match=r"medic\.txt, line 1, got"):
        list(MedicKB()([write("D1|no names", name="medic.txt")]))
