"""link --to: other formats than JSON lines and Parquet, read back by convert."""

import csv

import pytest
import spacy

from spacy_pel.corpora import read_corpus
from spacy_pel.util import read_jsonl

from .conftest import done, run
from .test_link import killed_after, without_done

pytestmark = pytest.mark.slow

TEXTS = ["Fever 🌡 after aspirin.\nNo zebra fish, no stroke.", "Nothing <here> & there.", "Kidney stone"]


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in zip("abc", TEXTS, strict=True):
        (tmp_path / "in" / f"{name}.txt").write_text(text.lower(), encoding="utf8")
    return tmp_path / "in"


def mentions(documents):
    return [(d.id, d.text, [(m.start, m.end, m.label, m.ids) for m in d.mentions]) for d in documents]


@pytest.mark.parametrize(
    "name, reader, options",
    [
        *(("out.pubtator.gz", "pubtator", []), ("out.txt", "pubtator", ["--to", "pubtator"]), ("out.xml", "bioc", [])),
        ("out", "brat", ["--to", "brat"]),
    ],
)
def test_round_trip(folder, texts, tmp_path, name, reader, options):
    assert run("link", folder / "pipeline", texts, tmp_path / "out.jsonl").code == 0
    result = done("link", folder / "pipeline", texts, tmp_path / name, *options, "--json")
    assert (result.json["documents"], result.json["mentions"], result.json["nil"]) == (3, 5, 1)
    done("convert", tmp_path / "back.jsonl", "--reader", reader, "--strict", tmp_path / name)
    expected = mentions(read_corpus(tmp_path / "out.jsonl"))
    assert [[m[3] for m in d[2]] for d in expected] == [[("C5",), ("C0",), (), ("C3",)], [], [("C4",)]]
    if reader == "pubtator":  # a line is a line
        expected = [(key, text.replace("\n", " "), found) for key, text, found in expected]
    assert mentions(read_corpus(tmp_path / "back.jsonl")) == expected


@pytest.mark.parametrize("name", ["out.brat", "out.parquet", "out.csv.gz"])
def test_resume_after_kill_9(folder, tmp_path, name):
    out = tmp_path / name
    args = ["link", folder / "pipeline", folder / "dev.jsonl", out, "--part-size", 7]
    killed_after(3, args)
    assert not out.exists()
    resumed = done(*args, "--resume", "--json").json
    assert (resumed["resumed_after"], resumed["documents"]) == (3 * 7, 40)
    assert without_done(tmp_path) == [name]
    if name == "out.brat":
        assert len(list(out.iterdir())) == 2 * 40


@pytest.mark.parametrize(
    "name, options, code",
    [
        ("out.txt", [], "E642"),
        ("out.parquet.gz", ["--to", "parquet"], "E642"),
        ("out.xml", ["--to", "jsonl"], "E642"),
        ("out.jsonl", ["--to", "conll"], "E646"),
    ],
)
def test_names_and_formats(folder, texts, tmp_path, name, options, code):
    result = run("link", folder / "pipeline", texts, tmp_path / name, *options)
    assert result.code == 2 and f"[PEL-{code}]" in result.err and result.err.count("\n") == 1
    assert not (tmp_path / name).exists()
    assert result.err.count(" .csv,") <= 1  # tables of links and of OMOP


def test_the_least_p_of_what_is_written(folder, texts, tmp_path):
    def written(*options):
        done("link", folder / "pipeline", texts, tmp_path / "out.jsonl", "--overwrite", *options)
        return [m["probability"] for document in read_jsonl(tmp_path / "out.jsonl") for m in document["mentions"]]

    every = written()
    middle = sorted(every)[len(every) // 2]
    assert 0 < len(kept := written("--min-p", middle)) < len(every)
    assert kept == [p for p in every if p >= middle]
    none = done("link", folder / "pipeline", texts, tmp_path / "out.jsonl", "--overwrite", "--min-p", 1)
    assert "No mentions were found, or none has P(right) of 1" in none.err


def test_negations_of_a_component_are_written(folder, tmp_path):
    pytest.importorskip("negspacy.negation")
    nlp = spacy.load(folder / "pipeline")
    nlp.add_pipe("pel_line_sentences", first=True)
    nlp.add_pipe("negex", config={"extension_name": "is_denied"})
    nlp.to_disk(tmp_path / "pipeline")
    (tmp_path / "negation.py").write_text("import negspacy.negation\n", encoding="utf8")
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"id": "1", "text": "fever, aspirin\\nno zebra fish, no stroke"}\n', encoding="utf8")
    args = (tmp_path / "pipeline", texts, tmp_path / "out.csv", "--to", "omop")
    done("--code", tmp_path / "negation.py", "link", *args)
    with (tmp_path / "out.csv").open(encoding="utf8") as file:
        found = {row["lexical_variant"]: row["term_exists"] for row in csv.DictReader(file)}
    assert found == {"fever": "Y", "aspirin": "Y", "zebra fish": "N", "stroke": "N"}
