"""CSV and TSV of links: what any reader of tables gets back is what was written."""

import csv
import gzip
import io

import pytest

from spacy_pel.corpora.formats.tables import write_table

COLUMNS = ["document", "start", "end", "text", "label", "id", "name", "p_right", "p_nil", "relation"]


def mention(text, start, end, kb_id="C1", **more):
    record = {"start": start, "end": end, "text": text[start:end], "label": "ENTITY", "kb_id": kb_id}
    return {
        **record,
        "name": "a, b" if kb_id else None,
        "probability": 0.25,
        "nil_score": None,
        "relation": "broader",
        **more,
    }


TEXT = 'Heart\r\nattack,\t"x"\rand =A1 é🌡'
RECORDS = [
    {"id": "0012", "text": TEXT, "meta": {"note": "a\nb;\t\"c\"", "n": 5, "title_length": 3}, "mentions": [
        mention(TEXT, 0, 13), mention(TEXT, 13, 18, "NIL", name=None), mention(TEXT, 18, 20, "0012"),
        mention(TEXT, 23, 26, "", probability=1e-06), mention(TEXT, 27, 29, codes={"MESH": ["D1", "D2"]}),
    ]},
    {"id": "none", "text": "Nothing", "meta": {"late": True, "label": [1, "é"]}, "mentions": []},
    {"id": "7", "text": "a\0b", "mentions": [mention("a\0b", 0, 3)]},
]  # fmt: skip


def read(path):
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    delimiter = "\t" if ".tsv" in path.name else ","
    return list(csv.DictReader(io.StringIO(content.decode(), newline=""), delimiter=delimiter))


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.csv.gz", "out.tsv.gz"])
def test_rows(tmp_path, name):
    write_table(tmp_path / "new" / name, RECORDS, codes=["MESH", "ICD10CM"])
    rows = read(tmp_path / "new" / name)
    assert list(rows[0]) == [*COLUMNS, "MESH", "ICD10CM", "note", "n", "title_length", "late", "meta_label"]
    found = [(row["document"], int(row["start"]), int(row["end"]), row["text"], row["id"]) for row in rows]
    assert found == [
        (one["id"], m["start"], m["end"], m["text"], m["kb_id"]) for one in RECORDS for m in one["mentions"]
    ]
    assert [row["name"] for row in rows][:3] == ["a, b", "", "a, b"]
    assert [(float(row["p_right"]), row["p_nil"]) for row in rows][2:4] == [(0.25, ""), (1e-06, "")]
    assert {row["relation"] for row in rows} == {"broader"}
    assert [(row["MESH"], row["ICD10CM"]) for row in rows][3:5] == [("", ""), ("D1|D2", "")]
    assert [(row["note"], row["n"], row["late"]) for row in rows][4:] == [('a\nb;\t"c"', "5", ""), ("", "", "")]
    assert [one.name for one in (tmp_path / "new").iterdir()] == [name]


def test_without_mentions(tmp_path):
    meta = {"end": {"x": None}, "meta_end": 1, "meta_id": 2, "id": 3, "meta_meta_id": 4}
    write_table(tmp_path / "out.csv", [{**RECORDS[1], "meta": meta}])
    keys = ["meta_meta_end", "meta_end", "meta_id", "meta_meta_meta_id", "meta_meta_id"]  # others keep their names
    assert (tmp_path / "out.csv").read_text() == ",".join([*COLUMNS, *keys]) + "\n"
