"""link reads and writes tables: a row for each mention, with the other columns of its document."""

import csv
import gzip
import io
import json

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spacy_pel.util import write_jsonl

from .conftest import done, refused

pytestmark = pytest.mark.slow

COLUMNS = ["pmid", "abstract", "date"]
ROWS = [
    ["0012", "fever after aspirin,\r\nno zebra fish", "2020-01-02"],
    ["", "nothing here", ""],
    ["0012", "", ""],
    ["7", 'kidney stone "NA"', "=1+1"],
]
NAMED = ["--text-column", "abstract", "--id-column", "pmid"]
LINKED = [("0012", "C5"), ("0012", "C0"), ("0012", "NIL"), ("7", "C4")]


def write(path):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in ROWS]), path)
    elif path.suffix == ".jsonl":
        write_jsonl(path, (dict(zip(COLUMNS, row, strict=True)) for row in ROWS))
    else:
        text = io.StringIO()
        csv.writer(text, delimiter="\t" if ".tsv" in path.name else ",").writerows([COLUMNS, *ROWS])
        content = text.getvalue().encode()
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def read(path):
    with open(path, newline="", encoding="utf8") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


@pytest.mark.parametrize("name", ["in.tsv.gz", "in.parquet", "in.jsonl"])
def test_a_table_to_a_table(folder, tmp_path, name):
    write(tmp_path / name)
    out = tmp_path / "out.csv"
    args = ["link", folder / "pipeline", tmp_path / name, out, *NAMED, "--json"]
    result = done(*args).json
    assert [result[key] for key in ("documents", "mentions", "nil", "without_text")] == [4, 4, 1, 1]
    rows = read(out)
    assert [(row["document"], row["id"]) for row in rows] == LINKED
    texts = [ROWS[0][1]] * 3 + [ROWS[3][1]]
    assert [text[int(row["start"]) : int(row["end"])] for row, text in zip(rows, texts, strict=True)] == [
        *("fever", "aspirin", "zebra fish", "kidney stone")
    ]
    assert [row["date"] for row in rows] == ["2020-01-02"] * 3 + ["=1+1"]
    # complete, so nothing to do
    assert done(*args, "--resume").json["resumed_after"] == 4
    assert [done(*args, "--resume").json[key] for key in ("documents", "mentions", "nil")] == [4, 4, 1]
    refused("E657", *args)
    done(*args, "--overwrite")
    assert read(out) == rows
    assert "Convert it" in refused("E002", "evaluate", folder / "pipeline", out, "--output", tmp_path / "metrics")


AWKWARD = ["id", "abstract", "text", "start", "name", "meta_name", "MESH", "title_length", "a, b", "", "id"]
AWKWARD_ROWS = [
    ["0012", 'a "fever",\r\nor\nkidney stone\t', "own", "7", 'B, "B"', "mn", "x", "3", "c\r\nd\re", "", "second"],
    ["", "no fever", "=t", "", "", "", "", "", "", "", ""],
    ["0012", "fever again 🌡", "NA", "NaN", "null", "None", "1e5", "007", "|", "unnamed", " "],
    [" ", "nothing", "", "", "", "", "", "", "", "", ""],
]


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet", "out.jsonl"])
def test_nothing_is_lost_or_mixed(folder, tmp_path, name):
    """A table with a BOM, CR LF, line ends in cells, missing and repeated ids, and names of the output's columns."""
    with open(tmp_path / "in.csv", "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file).writerows([AWKWARD, *AWKWARD_ROWS])
    named = ("--text-column", "abstract", "--codes", "MESH")
    done("link", folder / "pipeline", tmp_path / "in.csv", tmp_path / name, *named)
    keys = [*AWKWARD[2:9], "column_10", "id_2"]
    ids = ["0012", "2", "0012", "4"]
    if name in ("out.csv", "out.tsv"):
        delimiter = "\t" if name == "out.tsv" else ","
        frame = pandas.read_csv(tmp_path / name, sep=delimiter, dtype=str, keep_default_na=False)
        columns = ["meta_text", "meta_start", "meta_meta_name", "meta_name", "meta_MESH", *keys[5:]]
        assert sorted(frame.columns[11:]) == sorted(columns) and frame.columns[10] == "MESH"
        assert frame[["document", "text", *columns]].to_numpy().tolist() == [
            [ids[at], text, *AWKWARD_ROWS[at][2:]]
            for at, text in ((0, "fever"), (0, "kidney stone"), (1, "fever"), (2, "fever"))
        ]
        return
    path = tmp_path / name
    frame = pandas.read_parquet(path) if name == "out.parquet" else pandas.read_json(path, lines=True, dtype=False)
    metas = [json.loads(meta) if isinstance(meta, str) else meta for meta in frame["meta"]]
    assert frame["id"].tolist() == ids and frame["text"].tolist() == [row[1] for row in AWKWARD_ROWS]
    assert [[meta.get(key, "") for key in keys] for meta in metas] == [row[2:] for row in AWKWARD_ROWS]


def test_commands_that_read_texts_take_the_columns(folder, tmp_path):
    write(tmp_path / "in.csv")
    estimated = done("estimate", folder / "pipeline", tmp_path / "in.csv", *NAMED, "--json").json
    assert (estimated["n_documents"], estimated["n"]) == (4, 4)
    (tmp_path / "short.csv").write_text("abstract\nAdenosine triphosphate (ATP) was given.\n")
    table = tmp_path / "out.tsv"
    assert "--text-column" in refused("E641", "corpus", "abbreviations", tmp_path / "short.csv", table)
    found = done("corpus", "abbreviations", tmp_path / "short.csv", table, "--text-column", "abstract", "--json").json
    assert found["short_forms"] == 1
    refused("E639", "link", folder / "pipeline", folder / "ruler" / "meta.json", tmp_path / "out.csv", *NAMED)
