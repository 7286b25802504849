"""A corpus in parts: every document is in one part, and a part is there whole or not at all."""

import gzip
import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from spacy_pel.engines.corpus import Corpus
from spacy_pel.engines.output import PartedOutput, Report, are_nested, output_kind
from spacy_pel.errors import PelError

LINES = [{"id": f"d{i}" if i % 3 else None, "text": f"Tëxt {i}.", "meta": {"n": i}} for i in range(23)]
SETTINGS = {"n_candidates": 5}


def write(path, lines=LINES):
    """Blank lines, a BOM, row groups that are no multiples of a part."""
    if path.name.endswith(".parquet"):
        rows = [{**line, "meta": json.dumps(line["meta"])} for line in lines]
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=4)
        return
    text = "\ufeff" + "\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\r\n \n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.parametrize("kind", [".jsonl", ".jsonl.gz", ".parquet"])
@pytest.mark.parametrize("size", [1, 5, 23, 100])
def test_parts_hold_the_documents_in_order(tmp_path, kind, size):
    write(tmp_path / f"in{kind}")
    corpus = Corpus(tmp_path / f"in{kind}")
    parts = list(corpus.parts(size))
    assert [part.number for part in parts] == list(range(-(-23 // size)))
    assert [document for part in parts for document in part.documents] == list(corpus)
    assert {len(part.documents) for part in parts} <= {size, 23 % size, 23}
    assert [(document.id, document.text) for document in corpus][:2] == [("1", "Tëxt 0."), ("d1", "Tëxt 1.")]


def test_an_article_is_in_one_part(tmp_path):
    articles = [None, "a", "a", "a", "a", "b", None, None]
    write(tmp_path / "in.jsonl", [{"text": "x", "meta": {"article_id": article}} for article in articles])
    sizes = [len(part.documents) for part in Corpus(tmp_path / "in.jsonl").parts(2)]
    assert sizes == [5, 2, 1]


def test_a_folder_of_files(tmp_path):
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / "_left").mkdir()
    for name in ("b.jsonl", "a.parquet", "deeper/c.jsonl.gz", "_left/d.jsonl", ".e.jsonl"):
        write(tmp_path / "in" / name, LINES[:5])
    for path in (tmp_path / "in", (tmp_path / "in").as_uri()):
        corpus = Corpus(path)
        names = [file.removeprefix(f"{tmp_path.as_posix()}/in/") for file in corpus.files]
        assert names == ["a.parquet", "b.jsonl", "deeper/c.jsonl.gz"]
        assert [len(part.documents) for part in corpus.parts(6)] == [6, 6, 3]
        only = Corpus(path, "parquet")
        assert len(list(only)) == 5 and only.fingerprint != corpus.fingerprint
        before = corpus.fingerprint
        write(tmp_path / "in" / "b.jsonl", LINES[:6])
        assert Corpus(path).fingerprint != before
        write(tmp_path / "in" / "b.jsonl", LINES[:5])


def test_bad_input(tmp_path):
    def refused(name, code, **settings):
        with pytest.raises(PelError, match=code):
            list(Corpus(name if "://" in name else tmp_path / name, **settings))

    refused("none.jsonl", "E002.*no such file")
    refused("nowhere://bucket/in.jsonl", "E634")
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "Fever."}\n\n{"text": "\xff"}\n')
    refused("in.jsonl", "E002.*line 3")
    refused("in.jsonl", "E640", format_name="word")
    refused((tmp_path / "in.jsonl").as_uri(), "E640", format_name="txt")
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Fever."}\n' * 99)[:-9])
    refused("in.jsonl.gz", "E002")


def linked(*ids):
    mention = {"start": 0, "end": 1, "text": "T", "label": "X", "ids": [], "kb_id": "NIL", "name": None}
    mention |= {"score": 0.5, "nil_score": 0.5, "probability": None, "relation": "broader", "candidates": [["C1", 0.5]]}
    return [{"id": one, "text": "Té", "mentions": [mention], "meta": {}} for one in ids]


@pytest.mark.parametrize("kind", [".jsonl", ".jsonl.gz", ".parquet"])
def test_output(tmp_path, kind):
    out = tmp_path / "a" / "out"
    output = PartedOutput(str(out), kind)
    output.start(SETTINGS, resume=False, overwrite=False)
    output.write(1, linked("a", "b"))
    if kind == ".parquet":
        assert pq.read_schema(out / "part-000001.parquet").metadata == {b"spacy_pel.links": b"1"}
        [first_mention] = pq.read_table(out / "part-000001.parquet").to_pylist()[0]["mentions"]
        assert first_mention["relation"] == "broader"
    first = (out / f"part-000001{kind}").read_bytes()
    output.write(1, linked("a", "b"))  # by a second worker
    assert (out / f"part-000001{kind}").read_bytes() == first
    assert output.written() == [1]
    assert output.report([1]) == Report(2, 2, 2)
    again = PartedOutput(out.as_uri(), kind)
    with pytest.raises(PelError, match="E643"):
        again.start(SETTINGS, resume=False, overwrite=False)
    again.start(SETTINGS, resume=True, overwrite=False)
    if kind == ".jsonl":
        assert list(again) == linked("a", "b")
    (out / "_unfinished-1").write_text("of a killed worker")
    again.finish(again.report([1]))
    names = {"_SUCCESS", "_settings.json", "_report-000001.json", f"part-000001{kind}"}
    assert {path.name for path in out.iterdir()} == names
    again.start(SETTINGS, resume=True, overwrite=False)
    assert again.written() == [1], "nothing is left to do"
    with pytest.raises(PelError, match="E644.*n_candidates changed from 5 to 6"):
        again.start({"n_candidates": 6}, resume=True, overwrite=False)
    with pytest.raises(PelError, match="E657"):
        again.start(SETTINGS, resume=False, overwrite=False)
    again.start(SETTINGS, resume=False, overwrite=True)
    assert again.written() == []


def test_a_table_has_a_column_for_each_vocabulary(tmp_path):
    output = PartedOutput(str(tmp_path / "out"), ".csv")
    output.start(SETTINGS, resume=False, overwrite=False)
    [record] = linked("a")
    record["mentions"][0]["codes"] = {"MESH": ["D1", "D2"]}
    output.write(0, [record], codes=("MESH",))
    header, row = (tmp_path / "out" / "part-000000.csv").read_text().splitlines()
    assert header.endswith(",MESH") and row.endswith(",D1|D2")


def test_an_output_deletes_nothing_else(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.doc").write_text("kept")
    with pytest.raises(PelError, match="E647.*notes.doc"):
        PartedOutput(str(tmp_path / "out"), ".jsonl").start(SETTINGS, resume=True, overwrite=True)
    with pytest.raises(PelError, match="E647.*a file"):
        PartedOutput(str(tmp_path / "out" / "notes.doc"), ".jsonl").written()
    assert (tmp_path / "out" / "notes.doc").read_text() == "kept"


def test_an_output_is_not_its_input_or_of_spark(tmp_path):
    output = PartedOutput(str(tmp_path / "out"), ".parquet")
    out = str(tmp_path / "out")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    inside = (tmp_path / "out" / "a.parquet").as_uri()
    for path in (out, str(tmp_path / "sub" / ".." / "out"), inside, str(tmp_path), str(tmp_path / "link")):
        assert are_nested(path, out)
    assert not are_nested(str(tmp_path / "out.parquet"), out) and not are_nested(str(tmp_path / "in"), out)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "part-00000-e5-c000.snappy.parquet").write_text("kept")
    with pytest.raises(PelError, match="E647.*snappy"):
        output.start(SETTINGS, resume=False, overwrite=True)


def test_a_part_that_is_being_written_is_not_there(tmp_path, monkeypatch):
    output = PartedOutput(str(tmp_path / "out"), ".parquet")
    output.start(SETTINGS, resume=False, overwrite=False)

    class Broken:
        def __getattr__(self, name):
            if name == "move":
                raise KeyboardInterrupt  # as far as it got
            return getattr(fs.LocalFileSystem(), name)

    monkeypatch.setattr(output, "files", Broken())
    with pytest.raises(KeyboardInterrupt):
        output.write(0, linked("a"))
    whole = PartedOutput(str(tmp_path / "out"), ".parquet")
    assert whole.written() == [] and len(list((tmp_path / "out").iterdir())) == 2
    whole.start(SETTINGS, resume=True, overwrite=False)
    whole.write(0, linked("a"))
    whole.finish(whole.report([0]))
    assert pq.read_table(tmp_path / "out").num_rows == 1


def test_kinds_of_output():
    assert output_kind("auto", "s3://bucket/out.parquet/") == ".parquet"
    assert output_kind("jsonl", "out.jsonl.gz") == ".jsonl.gz" and output_kind("jsonl", "out") == ".jsonl"
    for name, path, code in (("auto", "out", "E642"), ("brat", "out.brat", "E646")):
        with pytest.raises(PelError, match=code):
            output_kind(name, path)


def test_an_id_of_zero_and_a_date(tmp_path):
    rows = [{"id": n, "text": "a", "meta": {"day": date(2026, 1, 1 + n)}} for n in range(2)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    documents = list(Corpus(tmp_path / "in.parquet"))
    assert [(document.id, document.meta) for document in documents] == [
        *(("0", {"day": "2026-01-01"}), ("1", {"day": "2026-01-02"}))
    ]
    (tmp_path / "in.jsonl").write_text('{"id": 0, "text": "a"}\n{"id": "", "text": "a"}\n{"text": "a"}')
    assert [document.id for document in Corpus(tmp_path / "in.jsonl")] == ["0", "2", "3"]


def test_parts_without_settings_are_not_replaced_unasked(tmp_path):
    output = PartedOutput(str(tmp_path / "out"), ".jsonl")
    output.start(SETTINGS, resume=False, overwrite=False)
    output.write(0, linked("a"))
    (tmp_path / "out" / "_settings.json").unlink()
    with pytest.raises(PelError, match="E657"):
        output.start(SETTINGS, resume=True, overwrite=False)
    output.start(SETTINGS, resume=True, overwrite=True)
    assert output.written() == []
    output.write(0, linked("a"))
    output.remove()
    assert not output.exists() and list(tmp_path.iterdir()) == []
