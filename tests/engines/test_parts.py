"""A corpus in parts: every document is in one part, and a part is there whole or not at all."""

import gzip
import json
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

from spacy_pel.engines.documents import read_documents
from spacy_pel.engines.parted_corpus import PartedCorpus, read_part
from spacy_pel.engines.parts import PartedOutput, output_kind
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
@pytest.mark.parametrize("part_size", [1, 5, 23, 100])
def test_parts_hold_what_link_reads(tmp_path, kind, part_size):
    write(tmp_path / f"in{kind}")
    corpus = PartedCorpus(str(tmp_path / f"in{kind}"), part_size=part_size)
    found = list(corpus.parts())
    assert [part.number for part in found] == list(range(-(-23 // part_size)))
    assert corpus.n_documents == sum(part.n for part in found) == 23
    # in any order, as workers read them
    read = {part.number: read_part(corpus.files, part) for part in reversed(found)}
    together = [document for number in sorted(read) for document in read[number]]
    assert together == list(read_documents(tmp_path / f"in{kind}"))
    assert {len(documents) for documents in read.values()} <= {part_size, 23 % part_size, 23}


def test_a_folder_of_files(tmp_path):
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    (tmp_path / "in" / "_left").mkdir()
    for name in ("b.jsonl", "a.parquet", "deeper/c.jsonl.gz", "_left/d.jsonl", ".e.jsonl"):
        write(tmp_path / "in" / name, LINES[:5])
    corpus = PartedCorpus((tmp_path / "in").as_uri(), part_size=3)
    found = list(corpus.parts())
    names = [part.path.removeprefix(f"{tmp_path.as_posix()}/in/") for part in found]
    assert names == ["a.parquet"] * 2 + ["b.jsonl"] * 2 + ["deeper/c.jsonl.gz"] * 2
    assert [part.n for part in found] == [3, 2] * 3 and [part.number for part in found] == list(range(6))
    only = PartedCorpus(str(tmp_path / "in"), format_name="parquet", part_size=3)
    assert only.n_documents == 5 and only.fingerprint != corpus.fingerprint
    write(tmp_path / "in" / "b.jsonl", LINES[:6])
    assert PartedCorpus((tmp_path / "in").as_uri(), part_size=3).fingerprint != corpus.fingerprint


def test_bad_input(tmp_path):
    def refused(name, code, **settings):
        with pytest.raises(PelError, match=code):
            corpus = PartedCorpus(name if "://" in name else str(tmp_path / name), **settings)
            for part in corpus.parts():
                read_part(corpus.files, part)

    refused("none.jsonl", "E635")
    refused("nowhere://bucket/in.jsonl", "E634")
    refused("none.jsonl", "E640", format_name="txt")
    for content, code in (
        (b'{"text": "Fever."}\n{"body": "Fever."}\n', "E641.*document 2"),
        (b'{"text": "Fever."}\n\n{"text": "\xff"}\n', "E002.*document 2"),
        (b"\n", "E645"),
    ):
        (tmp_path / "in.jsonl").write_bytes(content)
        refused("in.jsonl", code)
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Fever."}\n' * 99)[:-9])
    refused("in.jsonl.gz", "E002")
    write(tmp_path / "in.jsonl")
    corpus = PartedCorpus(str(tmp_path / "in.jsonl"))
    (last,) = list(corpus.parts())[2:]
    write(tmp_path / "in.jsonl", LINES[:21])
    with pytest.raises(PelError, match="E636.*23"):
        read_part(corpus.files, last)


def linked(*ids):
    mention = {"start": 0, "end": 1, "text": "T", "label": "X", "ids": [], "kb_id": "NIL", "name": None}
    mention |= {"score": 0.5, "nil_score": 0.5, "probability": None, "candidates": [["C1", 0.5]]}
    return [{"id": one, "text": "Té", "mentions": [mention], "meta": {}} for one in ids]


@pytest.mark.parametrize("kind", [".jsonl", ".jsonl.gz", ".parquet"])
def test_output(tmp_path, kind):
    out = tmp_path / "a" / "out"
    output = PartedOutput(str(out), kind)
    output.start(SETTINGS, resume=False, overwrite=False)
    output.write(1, linked("a", "b"))
    if kind == ".parquet":
        assert pq.read_schema(out / "part-000001.parquet").metadata == {b"spacy_pel.links": b"1"}
    first = (out / f"part-000001{kind}").read_bytes()
    output.write(1, linked("a", "b"))  # by a second worker
    assert (out / f"part-000001{kind}").read_bytes() == first
    assert output.written() == [1]
    assert output.counts([1]) == {"documents": 2, "mentions": 2, "nil": 2, "left_out": 0}
    again = PartedOutput(out.as_uri(), kind)
    with pytest.raises(PelError, match="E643"):
        again.start(SETTINGS, resume=False, overwrite=True)
    again.start(SETTINGS, resume=True, overwrite=False)
    assert list(again.records([1])) == linked("a", "b")
    (out / "_unfinished-1").write_text("of a killed worker")
    again.finish()
    assert {path.name for path in out.iterdir()} == {"_SUCCESS", "_settings.json", f"part-000001{kind}"}
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
    assert output.overlaps(str(tmp_path / "out")) and output.overlaps(str(tmp_path / "sub" / ".." / "out"))
    assert output.overlaps((tmp_path / "out" / "a.parquet").as_uri()) and output.overlaps(str(tmp_path))
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert output.overlaps(str(tmp_path / "link"))
    assert not output.overlaps(str(tmp_path / "out.parquet")) and not output.overlaps(str(tmp_path / "in"))
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
    whole.finish()
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
    corpus = PartedCorpus(str(tmp_path / "in.parquet"))
    (found,) = [read_part(corpus.files, part) for part in corpus.parts()]
    assert [(one.id, one.meta) for one in found] == [("0", {"day": "2026-01-01"}), ("1", {"day": "2026-01-02"})]
    assert found == list(read_documents(tmp_path / "in.parquet"))
    (tmp_path / "in.jsonl").write_text('{"id": 0, "text": "a"}\n{"id": "", "text": "a"}\n{"text": "a"}')
    assert [one.id for one in read_documents(tmp_path / "in.jsonl")] == ["0", "2", "3"]


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
