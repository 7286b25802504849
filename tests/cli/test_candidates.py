"""candidates build and candidates eval, from the command line to the files."""

import json

import pytest

from spacy_pel.corpora import write_corpus
from spacy_pel.types import Document, Mention

from .conftest import NAMES, done, refused, run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(folder, tmp_path_factory):
    """Holds tfidf and names, two generators of the KB."""
    path = tmp_path_factory.mktemp("candidates")
    result = done("candidates", "build", folder / "kb", path / "tfidf", "--generator", "tfidf", "--json")
    assert result.json["generator"] == "spacy-pel.TfIdf.v1" and result.json["entities"] == len(NAMES)
    assert run("candidates", "build", folder / "kb", path / "names", "--generator", "aliasmatch").code == 0
    return path


def test_numbers_reach_the_generator_as_numbers(folder, tmp_path):
    args = ("candidates", "build", folder / "kb", tmp_path / "out", "--generator", "tfidf", "--json")
    assert done(*args, "--set", "char_ngrams=[3, 4]").json["settings"]["char_ngrams"] == [3, 4]
    refused("E209", *args[:3], tmp_path / "other", *args[4:], "--set", "char_ngrams=[3, 2.5]")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--generator", "tfidf", "--set", "ngrams"], "E211"),
        (["--generator", "tfidf", "--set", "ngrams=1"], "E208"),
        (["--generator", "nothing"], "E001"),
        (["--generator", "biencoder"], "E449"),
    ],
)
def test_what_cannot_be_built(folder, tmp_path, args, code):
    result = run("candidates", "build", folder / "kb", tmp_path / "out", *args)
    assert result.code == 2 and code in result.err and not (tmp_path / "out").exists()


def test_recall_of_generators(folder, built, tmp_path):
    typos = {"heart attack": "hart atack", "fever": "fevers"}
    documents = []
    for number, name in enumerate(NAMES):
        shown = typos.get(name, name)
        mentions = [Mention(2, 2 + len(shown), "", (f"C{number}",)), Mention(0, 1, "", ("X9",))]
        documents.append(Document(f"{number}", f"A {shown} and a zebra.", mentions))
    write_corpus(tmp_path / "test.jsonl", documents)
    args = ("candidates", "eval", folder / "kb", tmp_path / "test.jsonl", built / "tfidf")
    args = (*args, built / "names", "--train", folder / "train.jsonl")
    result = done(*args, "--output", tmp_path / "out", "--json")
    found = result.json
    assert found == json.loads((tmp_path / "out" / "candidates.json").read_text())
    assert (found["n"], found["n_nil"], found["n_documents"]) == (len(NAMES), len(NAMES), len(NAMES))
    assert list(found["generators"]) == ["tfidf", "names"]
    tfidf, exact = found["generators"].values()
    assert tfidf["recall@1"] == 1.0
    assert exact["recall@1"] == exact["recall@64"] == (len(NAMES) - 2) / len(NAMES)
    # the training text names the first six: both typos are among them
    assert (exact["seen"]["n"], exact["unseen"]["n"]) == (6, 2)
    assert exact["seen"]["recall@1"] == 4 / 6 and exact["unseen"]["recall@1"] == 1.0
    assert (tmp_path / "out" / "recall.png").is_file()
    few = run(*args, "--output", tmp_path / "out", "--limit-documents", 3, "--json").json
    assert few["n"] == 3


def test_the_retrieval_of_a_pipeline(folder, built, tmp_path):
    args = ("candidates", "eval", folder / "kb", folder / "dev.jsonl", "--pipeline", folder / "pipeline")
    result = done(*args, built / "names", "--output", tmp_path / "out", "--json")
    assert list(result.json["generators"]) == ["names", "pipeline"]
    assert result.json["generators"]["pipeline"]["recall@64"] == 1.0
    assert "BiEncoder" in result.json["generators"]["pipeline"]["generator"]


def test_what_cannot_be_measured(folder, built, tmp_path):
    ask = ("candidates", "eval", folder / "kb", folder / "dev.jsonl")
    where = ("--output", tmp_path / "out")
    for args, code in (([], "E450"), ([tmp_path / "nothing"], "E007")):
        refused(code, *ask, *args, *where)
    for ids, code in ((("X",), "E621"), ((), "E625")):
        write_corpus(tmp_path / "nil.jsonl", [Document("1", "A text.", [Mention(0, 1, "", ids)])])
        refused(code, "candidates", "eval", folder / "kb", tmp_path / "nil.jsonl", built / "names", *where)
    assert not (tmp_path / "out").exists()
