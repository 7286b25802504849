"""The command ``convert``: results on stdout, one line of error and exit code 2."""

import json
from pathlib import Path

import pytest
import spacy
from typer.testing import CliRunner

import spacy_pel.cli.convert  # noqa: F401  (registers the command)
from spacy_pel.cli import pel_cli
from spacy_pel.cli._settings import make_reader, parse_settings
from spacy_pel.corpora import read_corpus

FIXTURES = Path(__file__).parents[1] / "fixtures" / "corpora"
PUBTATOR = str(FIXTURES / "pubtator" / "tiny.txt")


def run(*args):
    return CliRunner().invoke(pel_cli, ["convert", *map(str, args)])


def test_convert_with_settings(tmp_path):
    out = tmp_path / "out.jsonl"
    done = run(
        out, "--reader", "pubtator", PUBTATOR, "--set", "strip_prefix=MESH:", "--set", "label=X", "--json"
    )
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["read"]["documents"] == 3 and result["mismatch_share"] == 0.0
    assert result["written"] == [{"path": str(out), "documents": 3, "mentions": 9, "nil": 1}]
    documents = list(read_corpus(out))
    assert documents[0].mentions[0].ids == ("D001241",) and documents[0].mentions[0].label == "X"
    text = run(out, "--reader", "pubtator", PUBTATOR).stdout
    assert "3 documents read, 9 mentions" in text and "relations: 1" in text


@pytest.mark.parametrize("typed", ["1.10", "1e5", "-0", "NaN", "5", "007", "1_0"])
def test_a_number_as_a_text_is_what_was_typed(tmp_path, typed):
    done = run(tmp_path / "out.jsonl", "--reader", "pubtator", PUBTATOR, "--set", f"label={typed}")
    assert done.exit_code == 0, done.output
    assert next(read_corpus(tmp_path / "out.jsonl")).mentions[0].label == typed


def test_numbers_in_a_list_of_texts_are_what_was_typed():
    made = make_reader("pel_kb_readers", "jsonl", parse_settings(["types=[1.10, 1e5]"]))
    assert made.types == {"1.10", "1e5"}


def test_split_and_carve(tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("100\n102\n999\n", encoding="utf8")
    fit, dev = tmp_path / "fit.jsonl", tmp_path / "dev.jsonl"
    args = [
        fit,
        "--reader",
        "pubtator",
        PUBTATOR,
        "--split",
        ids,
        "--dev-share",
        0.5,
        "--dev-out",
        dev,
        "--json",
    ]
    done = run(*args)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["read"]["ids_not_found"] == 1
    written = [[document.id for document in read_corpus(path)] for path in (fit, dev)]
    assert sorted(written) == [["100"], ["102"]]


def test_docbin_out(tmp_path):
    done = run(tmp_path / "out.spacy", "--reader", "jsonl", FIXTURES / "jsonl" / "tiny.jsonl", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["written"][0]["overlapping"] == 1
    docs = list(spacy.tokens.DocBin().from_disk(tmp_path / "out.spacy").get_docs(spacy.blank("en").vocab))
    assert [ent.kb_id_ for ent in docs[0].ents][:2] == ["D001241", "D012202"]


@pytest.mark.parametrize(
    "args,words",
    [
        (["--reader", "pubtatr", PUBTATOR], "No part named 'pubtatr'"),
        (["--reader", "pubtator", "no/such.txt"], "got no such file"),
        (["--reader", "pubtator", PUBTATOR, "--set", "lable=X"], "has no setting lable"),
        (["--reader", "pubtator", PUBTATOR, "--set", "label"], "NAME=VALUE"),
        (["--reader", "craft", PUBTATOR, "--set", "ontologies=CL"], "Expected a JSON list"),
        (["--reader", "pubtator", PUBTATOR, "--dev-share", "0.1"], "got only --dev-share"),
        (["--reader", "pubtator", PUBTATOR, "--split", PUBTATOR], "none of these"),
        (["--reader", "st21pv", PUBTATOR], "line 1"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(tmp_path, args, words):
    done = run(tmp_path / "out.jsonl", *args)
    assert done.exit_code == 2 and done.stdout == ""
    assert words in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_strict(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text("1|t|One\n1\t0\t3\tTwo\tX\tA\n", encoding="utf8")
    assert run(tmp_path / "out.jsonl", "--reader", "pubtator", bad).exit_code == 0
    done = run(tmp_path / "out.jsonl", "--reader", "pubtator", bad, "--strict")
    assert done.exit_code == 2 and "PEL-E201" in done.stderr
