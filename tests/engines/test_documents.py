"""What is read from tables and JSON lines: texts as they are, and nothing else lost."""

import gzip
import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spacy_pel.corpora import read_gold
from spacy_pel.engines.corpus import USUAL_COLUMNS, Columns, Corpus
from spacy_pel.errors import PelError

PUBMED = Columns("abstract", "pmid")
LONG = "Fever. " * 30_000  # longer than csv's default limit


XML = '<?xml version="1.0"?>\n'
WRONG = [
    ("x.zip", b"PK\x03\x04\x14\0\0\0 a.txt", "a zip file. Unpack it"),
    ("x.txt", b"%PDF-1.4\n%\xe2\xe3", "a PDF. Extract its text"),
    ("x.pdf", b"%PDF-1.4\n%\xe2\xe3", "a PDF. Extract its text"),
    ("x.docx", b"PK\x03\x04\x14\0\0\0 word/document.xml", "an Excel or Word file. Save it"),
    (
        "x.xml",
        f"{XML}<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>",
        "PubMed XML. It is not read. Get it as BioC",
    ),
    ("x.xml.gz", gzip.compress(f"{XML}<article><front/></article>".encode(), mtime=0), "JATS"),
    ("x.xml", f'{XML}<!DOCTYPE article>\n<article xmlns:x="y"/>', "JATS"),
    ("x.nbib", "PMID- 1\nTI  - Asthma\n", "a list of PubMed's"),
    ("x.ris", "TY  - JOUR\nTI  - Asthma\n", "a list of references"),
    ("x.txt", "TY  - JOUR\nTI  - Asthma\n", "a list of references"),
    ("x.json", '{"resourceType": "CodeSystem", "concept": []}', "FHIR. It holds names"),
    ("x.xml", f"{XML}<ClaML version='2'/>", "ClaML. It is not read"),
    ("x.json", '{"a": "b"}', "no 'passages'"),
    ("x.xml", '<a:b xmlns:a="c"><a:text>Fever</a:text></a:b>', "a <b>"),
    ("x.json", '[{"text": "a"}, "text"]', "'text'. Write one object a line"),
    ("x.json", '[{"text": "a"}', "an array that is invalid JSON"),
    ("x.html", "<!DOCTYPE html><html>", "a web page"),
]


@pytest.mark.parametrize(("name", "content", "got"), WRONG)
def test_a_wrong_file_is_named_as_what_it_is(tmp_path, name, content, got):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(PelError, match=f"{name}.*, got .*{got}"):
        list(Corpus(path))
    if not got.startswith(("FHIR", "no 'p", "a <b>")):
        with pytest.raises(PelError, match=f"{name}.*, got .*{got}"):
            list(read_gold(path))


@pytest.mark.parametrize(("name", "content"), [("x.txt", "1|t|Rash"), ("x.tsv", "a\tO"), ("x.ann", "T1\tD 0 4\trash")])
def test_another_format_is_to_be_converted(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(PelError, match="JSON lines or Parquet.*[Cc]onvert"):
        list(read_gold(tmp_path / name))


def read(path, content, columns=USUAL_COLUMNS):
    """As (id, text, meta), the same from a path and a URI."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    documents = list(Corpus(path, columns=columns))
    assert list(Corpus(path.as_uri(), columns=columns)) == documents
    return [(document.id, document.text, document.meta) for document in documents]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.csv", "id,text\n0012,Fever\n", [("0012", "Fever", {})]),
        ("x.csv", "\ufeffid,text\r\n1,Fever\r\n", [("1", "Fever", {})]),
        ("x.tsv", "id\ttext\n1\tFever\n", [("1", "Fever", {})]),
        ("x.csv.gz", gzip.compress(b"text\nFever\n", mtime=0), [("1", "Fever", {})]),
        ("x.csv", "text;id;date\nFever, pain;7;2020\n", [("7", "Fever, pain", {"date": "2020"})]),
        ("x.tsv", "id,text\n1,Fever\n", [("1", "Fever", {})]),
        ("x.csv", "id\ttext\n1\tFever, pain\n", [("1", "Fever, pain", {})]),
        ("x.tsv", "id\ttext\n1\tFever\n".encode("utf-16"), [("1", "Fever", {})]),  # "Unicode text" of Excel
        ("x.csv", 'id,text\n1,"a\n\n""b"", c"\n2,d\n', [("1", 'a\n\n"b", c', {}), ("2", "d", {})]),
        ("x.csv", 'id,text\r\n1,"a\r\nb"\r\n', [("1", "a\r\nb", {})]),  # offsets are those of other readers
        ("x.tsv", 'id\ttext\n1\t"BP\t120\nHR\t80"\n', [("1", "BP\t120\nHR\t80", {})]),
        ("x.csv", f"id,text\n1,{LONG}\n", [("1", LONG, {})]),
        ("x.csv", "ID, Text ,\n1,Fever,\n", [("1", "Fever", {})]),
        ("x.csv", ",text\n0,Fever\n", [("1", "Fever", {"column_1": "0"})]),  # the index of pandas
        ("x.csv", "text,note,note,note_2\na,b,c,d\n", [("1", "a", {"note": "b", "note_3": "c", "note_2": "d"})]),
        ("x.csv", "id,text\n,a\n7,\n7,b\n", [("1", "a", {}), ("7", "", {}), ("7", "b", {})]),
        ("x.csv", "\nid,text\n\n1,a\n\n", [("1", "a", {})]),
        ("x.csv", 'id,text\r\n1,"a\rb\rc\rd"\r\n', [("1", "a\rb\rc\rd", {})]),
        ("x.csv", "sep=;\r\nid;text\r\n1;a,b\r\n", [("1", "a,b", {})]),
        ("x.csv", "id,text\n1,a,,\n", [("1", "a", {})]),
        ("x.csv", 'text,meta,y\na,"{""y"": 1, ""z"": [2]}",3\nb,old,4\n',
         [("1", "a", {"y": 1, "z": [2]}), ("2", "b", {"meta": "old", "y": "4"})]),
        ("x.jsonl", '{"text": "a", "y": 3, "meta": {"y": 1}, "mentions": []}', [("1", "a", {"y": 1})]),
        ("x.json", '[{"id": 1, "text": "a"},\n {"text": "b", "y": 2}]', [("1", "a", {}), ("2", "b", {"y": 2})]),
        ("x.jsonl", '[\n{"text": "a"}\n]\n', [("1", "a", {})]),
        ("x.csv", gzip.compress(b"id,text\n1,Fever\n", mtime=0), [("1", "Fever", {})]),
        ("x.jsonl", '{"text": "a", "id": 12.0, "deep": {"x": [null]}}', [("12", "a", {"deep": {"x": [None]}})]),
    ],
)  # fmt: skip
def test_texts(tmp_path, name, content, expected):
    assert read(tmp_path / name, content) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", "pmid,title,abstract\n0012,T,Fever\n"),
        ("x.csv", "PMID;Title;Abstract\n0012;T;Fever\n"),
        ("x.tsv.gz", gzip.compress(b"abstract\ttitle\tpmid\nFever\tT\t0012\n", mtime=0)),
        ("x.jsonl", '{"pmid": "0012", "title": "T", "abstract": "Fever"}\n'),
    ],
)
def test_named_columns(tmp_path, name, content):
    [(key, text, meta)] = read(tmp_path / name, content, PUBMED)
    assert (key, text, [*meta.values()]) == ("0012", "Fever", ["T"])


def test_columns_beside_those_named_by_default(tmp_path):
    line = {"pmid": 7, "abstract": "Fever", "id": 1, "text": "x"}
    assert read(tmp_path / "x.jsonl", json.dumps(line), PUBMED) == [("7", "Fever", {"id": 1, "text": "x"})]


def test_parquet(tmp_path):
    utc = timezone.utc
    columns = {
        "pmid": pa.array([7.0, float("nan")]),
        "abstract": pa.array(["Fever", None]).dictionary_encode(),
        "date": [date(2020, 1, 2), None],
        "at": pa.array([1, 10**18], pa.timestamp("ns", "UTC")),
        "took": pa.array([timedelta(hours=1), None], pa.duration("ns")),
        "share": [float("inf"), 0.5],
        "price": [Decimal("1.50"), None],
        "raw": [b"a\xff", None],
        "deep": [{"days": [date(2020, 1, 2)]}, None],
        "mentions": [[{"start": 1}], None],
        "meta": ['{"date": "earlier"}', None],
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    (first, second) = read(tmp_path / "x.parquet", (tmp_path / "x.parquet").read_bytes(), PUBMED)
    assert (first[:2], second[:2]) == (("7", "Fever"), ("2", ""))
    assert first[2] == {
        "date": "earlier",
        "at": "1970-01-01T00:00:00+00:00",
        "took": "1:00:00",
        "share": None,
        "price": "1.50",
        "raw": "a\\xff",
        "deep": {"days": ["2020-01-02"]},
    }
    assert second[2]["at"] == datetime.fromtimestamp(10**9, utc).isoformat() and second[2]["share"] == 0.5
    json.dumps(second[2], allow_nan=False)


def test_parquet_with_a_column_twice(tmp_path):
    table = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array(["c"])], names=["x", "text", "x"])
    pq.write_table(table, tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet", (tmp_path / "x.parquet").read_bytes()) == [("1", "b", {"x": "a", "x_2": "c"})]


@pytest.mark.parametrize(
    ("name", "content", "columns", "said"),
    [
        ("x.csv", "pmid;abstract\n1;Fever\n", Columns(), r"E641.*'text', got pmid, abstract\. .*--text-column"),
        ("x.csv", "1,Fever and chills\n2,Pain\n", Columns(), r"E641.*'text', got 1, Fever and chills\..*--text-column"),
        ("x.csv", "12345,Fever and chills\n", Columns(), "E641.*x.csv: .*'text', got 12345, Fever and chills"),
        ("x.tsv", 'id\ttext\tn\n1\t"Big\t3\n2\t70"\t4\n', Columns(), "E002.*line 2, got a cell with rows in it"),
        ("x.json", '[{"pmid": 1, "abstract": "Fever"}]', Columns(), "E641.*'text', got pmid, abstract.*--text-column"),
        ("x.json", '{"pmid": 1}', Columns("abstract"), "E641.*'abstract', got pmid"),
        ("x.csv", "text,x\nFever,1\n", Columns(None, "pmid"), r"E641.*'pmid', got text, x\..*--id-column"),
        ("x.csv", "Text,TEXT\na,b\n", Columns(), "E641.*'text', got Text, TEXT"),
        ("x.jsonl", '{"abstract": "Fever"}\n', Columns(None, "abstract"), "E641.*'text', got abstract"),
        ("x.jsonl", '{"text": "a", "pmid": 1}\n{"text": "a"}\n', Columns(None, "pmid"), "E641.*document 2.*'pmid'"),
        ("x.jsonl", '{"text": "a", "pmid": 1}\n', Columns("pmid"), "E665.*'pmid', got 1"),
        ("x.csv", "id,text\n1,Fever, pain\n", Columns(), r"E002.*2 cells.*line 2, got 3: .*quotation marks"),
        ("x.csv", "id,text\n1,a\n2\n", Columns(), r"E002.*2 cells.*line 3, got 1"),
        ("x.csv", 'id,text\n1,a\n2,"b\n3,c\n4,d\n', Columns(), r"E002.*line 3, got an error: .*quotation marks"),
        ("x.tsv", 'id\ttext\n1\t"Brain drain" is\n', Columns(), r"E002.*line 2, got an error: .*quotation marks"),
        ("x.csv", "id,text\n1,a\n2,Ménière\n".encode("latin1"), Columns(), r"E002.*line 3.*iconv"),
        ("x.csv", "id,text\r1,a\r2,b\r".encode("latin1"), Columns(), r"E002.*CR alone"),
        ("x.parquet", b"PAR", Columns(), "E002.*Parquet"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(tmp_path, name, content, columns, said):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for place in (path, path.as_uri()):
        with pytest.raises(PelError, match=said):
            list(Corpus(place, columns=columns))


def test_empty_tables(tmp_path):
    assert read(tmp_path / "x.csv", "") == read(tmp_path / "x.csv", "id,text\n") == []


def test_damaged_pubtator_is_not_linked_as_plain_text(tmp_path):
    path = tmp_path / "x.pubtator"
    path.write_text("1\tFever\n1|a|of a cat\n")
    with pytest.raises(PelError, match=r"E205.*x\.pubtator, line 1"):
        list(Corpus(path))


@pytest.mark.parametrize("name", ["x.txt", "x.pubtator", "x.xml"])
def test_formats_without_columns(tmp_path, name):
    (tmp_path / name).write_text("Fever\n")
    with pytest.raises(PelError, match=r"E639.*jsonl, csv, tsv, parquet with --text-column"):
        Corpus(tmp_path / name, columns=Columns("text"))
    with pytest.raises(PelError, match=r"E639.*--id-column"):
        Corpus(tmp_path / name, columns=Columns(None, "id"))


@pytest.mark.skipif("sys.version_info < (3, 11)", reason="the csv module refuses NUL")
def test_nul(tmp_path):
    assert read(tmp_path / "x.csv", "id,text\n1,a\0b\n") == [("1", "a\0b", {})]
