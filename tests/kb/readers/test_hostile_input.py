"""Sources of knowledge bases that are damaged or meant to do harm: a clear error, or a counted repair."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_pel.errors import PelError
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.kb.readers.medic_kb import MedicKB
from spacy_pel.kb.readers.mesh_kb import MeshKB
from spacy_pel.kb.readers.obo_kb import OboKB
from spacy_pel.kb.readers.reader_base import KBReaderBase
from spacy_pel.kb.readers.umls_kb import UmlsKB
from spacy_pel.training.merge import Merge
from spacy_pel.training.merge_config import parse_merge_config
from spacy_pel.training.merge_terms import read_sssom
from spacy_pel.types import Entity

FIXTURES = Path(__file__).parents[2] / "fixtures" / "kb"
META = FIXTURES / "umls" / "META"
NODE = {"id": "http://x.org/A_1", "lbl": "one"}


def refused(reader, path, said):
    with pytest.raises(PelError, match=said) as caught:
        list(reader([path]))
    assert len(str(caught.value)) <= 1000 and str(caught.value).isprintable()
    assert path.name in str(caught.value)


def graph(**more):
    return {"graphs": [{"nodes": [{**NODE, **more}]}]}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (graph(lbl=5), "5 as lbl"),
        (graph(meta=[]), None),
        (graph(meta={"synonyms": "abc"}), "'abc' as synonyms"),
        ({"graphs": {"nodes": []}}, "as graphs"),
        ({"OVARY": {"name": "x", "level": 1, "history": "abc"}}, "'abc' as history"),
        ({"X1": {"name": "alpha"}}, "'X1' without mainType"),
        ("abc", "OBO graph"),
        ([{"id": "A:1", "name": "one"}, {"id": []}], None),
    ],
)
def test_ontology_json_of_wrong_types(tmp_path, data, said):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(data))
    if said is None:
        assert len(list(OboKB()([path]))) == 1
    else:
        refused(OboKB(), path, f"E002.*{said}")


def test_json_that_is_nested_too_deeply(tmp_path):
    deep = "[" * 100_000 + "]" * 100_000
    for name, reader in (("deep.json", OboKB()), ("deep.jsonl", JsonlKB())):
        (tmp_path / name).write_text(deep)
        refused(reader, tmp_path / name, "E002.*invalid JSON")


def meta_with(tmp_path, name, change):
    folder = shutil.copytree(META, tmp_path / "META")
    table = folder / f"{name}.RRF"
    table.write_bytes(change(table.read_bytes()))
    return folder


@pytest.mark.parametrize("name", ["MRRANK", "MRCONSO", "MRSTY", "MRCUI"])
def test_umls_tables_with_a_bom(tmp_path, name):
    plain = list(UmlsKB()([META]))
    assert list(UmlsKB()([meta_with(tmp_path, name, lambda data: b"\xef\xbb\xbf" + data)])) == plain


@pytest.mark.parametrize("rank", [b"high", b"9" * 5000, "²".encode(), b""])
def test_umls_ranks_that_are_no_numbers(tmp_path, rank):
    folder = meta_with(tmp_path, "MRRANK", lambda data: re.sub(rb"^\d+", rank, data))
    with pytest.raises(PelError, match="E002.*rank in digits at MRRANK of"):
        list(UmlsKB()([folder]))


def test_umls_ids_that_are_no_numbers(tmp_path):
    folder = tmp_path / "META"
    shutil.copytree(META, folder)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"C0000001", b"C" + b"0" * 30 + b"1").replace(b"C0", b"C\xc2\xb2"))
    assert len(list(UmlsKB()([folder]))) >= 1


@pytest.mark.parametrize(
    ("name", "reader", "lines"),
    [
        ("medic.txt", MedicKB, ["D1||one", "D2||two", "D3||three"]),
        ("kb.jsonl", JsonlKB, [json.dumps({"concept_id": c, "canonical_name": c}) for c in "abc"]),
        ("descriptors.tsv", MeshKB, [f"D{i}\tname\tterm\tC04\t" for i in range(3)]),
    ],
)
def test_lines_that_end_in_cr(tmp_path, name, reader, lines):
    """Read as one line, they gave one concept of several."""
    path = tmp_path / name
    for end in ("\r", "\n"):  # also where only the last line has another end
        path.write_bytes(("\r".join(lines) + end).encode())
        refused(reader(), path, "E002.*CR alone")


def test_a_cr_within_a_line_is_counted(tmp_path):
    (tmp_path / "medic.txt").write_bytes(b"D1||one\nD2||two\rD3||three\nD4||four\n")
    reader = MedicKB()
    assert len(list(reader([tmp_path / "medic.txt"]))) == 3 and reader.report == {"carriage_return": 1}
    refused(MedicKB(strict=True), tmp_path / "medic.txt", "E121.*line 2.*carriage_return")
    folder = meta_with(tmp_path, "MRCONSO", lambda data: data.replace(b"\n", b"\r", 1))
    umls = UmlsKB()
    list(umls([folder]))
    assert umls.report == {"carriage_return": 1}


def test_mesh_xml_in_cr_and_in_unknown_encodings(tmp_path):
    content = (FIXTURES / "mesh" / "desc2025.xml").read_bytes()
    path = tmp_path / "desc2025.xml"
    path.write_bytes(content.replace(b"\n", b"\r"))
    refused(MeshKB(), path, "E002.*CR alone")
    for encoding in (b"UF-8", b"euc-jp", b"utf-16"):
        path.write_bytes(b'<?xml version="1.0" encoding="%b"?>\n' % encoding + content[content.index(b"<!DOC") :])
        refused(MeshKB(), path, "E002.*malformed XML")


def test_a_history_of_ids_that_is_no_history(tmp_path):
    laughs = "a0: &a0 x\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
    for content in (laughs, "'MESH:D1': 2001-99-99", "a: " + "[" * 5000, "a: " + "9" * 5000, "- a\n- b"):
        path = tmp_path / "history.yaml"
        path.write_text(content)
        refused(MeshKB(), path, "E002")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a owl:Class ; rdfs:label [ 'x' .\n", "end of the file"),
        ('A:1 a owl:Class ; rdfs:label "x"', "end of the file"),
        ('A:1 a owl:Class ] ; rdfs:label "x" .\n', "bracket too many"),
    ],
)
def test_turtle_that_would_lose_its_rest(tmp_path, content, said):
    path = tmp_path / "bad.ttl"
    path.write_text('A:0 a owl:Class ; rdfs:label "zero" .\n' + content)
    refused(OboKB(), path, f"E002.*bad.ttl, line .*{said}")


HEADER = "# curie_map:\n#  - : [\nsubject_id\tpredicate_id\tobject_id\tsubject_label"
ROW = "A:1\tskos:exactMatch\tB:1\tone"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([HEADER, ROW], None),
        ([HEADER, ROW, "A:2\tskos:exactMatch"], "line 5, got 2"),
        ([HEADER, ROW.replace("B:1", "B1")], "PREFIX:ID.*line 4.*'B1'"),
        ([HEADER, ROW.replace("A:1", "A:1\0")], "(PREFIX:ID.*)?line 4"),  # Python 3.10 refuses it first
        ([HEADER, ROW.replace("A:1", '"A:1'), ROW, ROW.replace("A:1", 'A:3"'), ROW], "rows in it"),
        ([HEADER, ROW.replace("one", '"one')], "line 4.*error"),
        ([HEADER + "\tsubject_id", ROW + "\tC:1"], "each once"),
    ],
)
def test_mapping_tables(tmp_path, lines, said):
    path = tmp_path / "bad.sssom.tsv"
    path.write_text("\n".join(lines) + "\n")
    if said is None:
        assert len(list(read_sssom(path))) == len(lines) - 1
        return
    with pytest.raises(PelError, match=f"E002.*{said}") as caught:
        list(read_sssom(path))
    assert "bad.sssom.tsv" in str(caught.value) and len(str(caught.value)) <= 1000


def test_merge_names_the_setting_that_a_reader_lacks(tmp_path):
    reading = {"names": {"reader": "jsonl", "settings": {"nonsense": 1}}}
    with pytest.raises(PelError, match=r"E142.*merge\.sources\.names\.settings.*nonsense"):
        list(Merge(parse_merge_config({"sources": reading}), tmp_path)())


def test_what_a_reader_does_not_check_names_the_file(tmp_path):
    class Foreign(KBReaderBase):
        def read(self, paths):
            for place, line in self.lines(paths[0]):
                yield place, Entity(line, line.split("|")[1])

    (tmp_path / "kb.txt").write_text("A|a\nB\n")
    refused(Foreign(), tmp_path / "kb.txt", r"E012.*Foreign.*kb\.txt")


LONG = """
from spacy_pel.kb.readers.csv_kb import _double_quoted
from spacy_pel.kb.repair import is_obsolete, with_plain_names
from spacy_pel.ontologies import clean_text
from spacy_pel.ontologies.obo import _bare, _quoted
from spacy_pel.types import Entity
n = 200_000
for part in (" ", " !", " {", " {}", "\\\\ ", "\\\\", "\\t"):
    for tail in ("", "x", "! x", "{"):
        _bare("A:1" + part * n + tail)
        _quoted('"' + part * n + tail)
        _quoted(part * n + tail)
for part in ("\\\\", "&", "&#", "&a", "&amp;", " ", "<b ", " (", ")", "[D", " [D]", "-(obsolete", "Ã", "Ã©", "'", ",'"):
    clean_text("a" + part * n + "x")
    is_obsolete("a" + part * n)
    _double_quoted(part * n)
    with_plain_names(Entity("A", part * n + "]"), lambda *_: None)
"""


@pytest.mark.slow
def test_long_runs_take_time_in_proportion():
    """In quadratic time it would take an hour: 16,000 blanks took 0.8 s."""
    subprocess.run([sys.executable, "-c", LONG], check=True, timeout=120)
