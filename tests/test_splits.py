"""No document is on two sides: a test document is in no other corpus, and a dev document in no training corpus."""

import shlex
from itertools import product
from pathlib import Path

import pytest
from typer.testing import CliRunner
from weasel.util import load_project_config

from spacy_pel.cli import pel_cli
from spacy_pel.corpora import write_corpus
from spacy_pel.training.corpora.preparation import read_ids
from spacy_pel.types import Document

ROOT = Path(__file__).parents[1]
LATER = ("--ids-by", "--vocabulary")  # for a KB that is built from the corpora; they change no id of a document


def on_two_sides(folder):
    """The pairs of corpora that must not share documents, but do; their names say what they are for."""
    ids = {path.stem: read_ids(path) for path in sorted(folder.glob("*.jsonl"))}
    tests = [name for name in ids if name.endswith("_test")]
    fits = [name for name in ids if name.endswith(("_train", "_without_dev"))]
    devs = [name for name in ids if name.endswith("_dev") and name not in fits]
    pairs = [*product(tests, ids.keys() - set(tests)), *product(devs, fits)]
    return sorted(pair for pair in pairs if ids[pair[0]] & ids[pair[1]])


def convert(*args):
    result = CliRunner().invoke(pel_cli, ["convert", *map(str, args)])
    assert result.exit_code == 0, result.output


def test_documents_of_another_corpus_are_found_and_left_out(tmp_path):
    corpora = {"a_train": "12345", "a_dev": "67", "a_test": "89", "b_train": "abc68", "b_test": "de"}
    for name, ids in corpora.items():
        write_corpus(tmp_path / f"{name}.jsonl", [Document(one, f"Text {one}.") for one in ids])
    assert on_two_sides(tmp_path) == [("a_dev", "b_train"), ("a_test", "b_train")]
    held_out = [word for name in ("a_dev", "a_test") for word in ("--without", tmp_path / f"{name}.jsonl")]
    convert(tmp_path / "b_train.jsonl", "--reader", "jsonl", tmp_path / "b_train.jsonl", *held_out)
    assert on_two_sides(tmp_path) == [] and read_ids(tmp_path / "b_train.jsonl") == set("abc")


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "data" / "medmentions").is_dir(), reason="needs the assets of project.yml")
def test_the_corpora_of_the_project_share_no_document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    corpus = tmp_path / "corpus"
    commands = [one for one in load_project_config(ROOT)["commands"] if one["name"].startswith("corpora")]
    for line in (line for one in commands if one["name"] != "corpora-worlds" for line in one["script"]):
        _, _, words = line.partition(" pel convert ")
        args = shlex.split(words)
        for option in {*LATER} & {*args}:
            del args[args.index(option) : args.index(option) + 2]
        convert(*args)
    names = {path.stem for path in corpus.iterdir()}
    assert {"st21pv_test", "bc5cdr_test", "ncbi_test", "st21pv_train", "bc5cdr_train", "ncbi_train"} <= names
    assert on_two_sides(corpus) == []
