"""convert --preprocess, and the way back by restore."""

import json

import pytest

from spacy_pel.corpora import read_corpus
from spacy_pel.training.offset_map import Original
from spacy_pel.util import read_json, read_jsonl, write_jsonl

from .conftest import done, refused, run

pytestmark = pytest.mark.slow

STEPS = ("--preprocess", "lowercase,longestmentions")


@pytest.fixture(scope="module")
def source(folder, tmp_path_factory):
    """The folder's development corpus with capital letters, and the same preprocessed."""
    path = tmp_path_factory.mktemp("restore")
    text = (folder / "dev.jsonl").read_text().replace("We studied", "İt is so. We studied")
    shifted = []
    for record in map(json.loads, text.splitlines()):
        for mention in record["mentions"]:
            mention["start"] += 10
            mention["end"] += 10
        shifted.append(record)
    write_jsonl(path / "dev.jsonl", shifted)
    output = done("convert", path / "low.jsonl", path / "dev.jsonl", "--reader", "jsonl", *STEPS, "--json")
    assert list(output.json["preprocessed"]) == ["lowercase", "longestmentions"]
    return path


def test_the_corpus(source):
    originals = {document.id: document for document in read_corpus(source / "dev.jsonl")}
    made = list(read_corpus(source / "low.jsonl"))
    assert [document.id for document in made] == list(originals)
    for document in made:
        original = originals[document.id]
        for mention in document.mentions:
            start, end = Original.of(document).offsets.original_span(mention.start, mention.end)
            assert original.text[start:end].lower() == document.text[mention.start : mention.end]
    files = source / "low.jsonl", source / "back.jsonl", "--corpus", source / "dev.jsonl"
    assert done("corpus", "restore", *files, "--json").json["documents"] == 40
    assert list(read_corpus(source / "back.jsonl")) == list(originals.values())


def test_evaluations_of_both_can_be_compared(folder, source, tmp_path):
    for name in ("dev", "low"):
        args = ("evaluate", folder / "pipeline", source / f"{name}.jsonl", "--output", tmp_path / name)
        assert run(*args).code == 0
    assert "E682" in run("compare", tmp_path / "dev", tmp_path / "low").err
    output = done("corpus", "restore", tmp_path / "low", tmp_path / "back", "--corpus", source / "low.jsonl", "--json")
    assert output.json["mentions"] == 80
    found = done("compare", tmp_path / "dev", tmp_path / "back", "--json")
    assert found.json["differences"]["recall@1"]["difference"] == 0.0
    metrics, before = (read_json(tmp_path / name / "metrics.json") for name in ("back", "low"))
    assert metrics["recall@1"] == before["recall@1"] and metrics["restored_from"] == str(tmp_path / "low")
    write_jsonl(tmp_path / "other.jsonl", [{"id": "other", "text": "Rash."}])
    refused("E240", "corpus", "restore", tmp_path / "low", tmp_path / "no", "--corpus", tmp_path / "other.jsonl")
    assert not list((tmp_path / "no").iterdir())


def test_links_in_the_original_texts(folder, source, tmp_path):
    assert run("link", folder / "pipeline", source / "low.jsonl", tmp_path / "low.jsonl").code == 0
    done("corpus", "restore", tmp_path / "low.jsonl", tmp_path / "back.jsonl", "--corpus", source / "dev.jsonl")
    documents = {document.id: document for document in read_corpus(source / "dev.jsonl")}
    for record in read_jsonl(tmp_path / "back.jsonl"):
        gold = [(mention.start, mention.end) for mention in documents[record["id"]].mentions]
        assert [(one["start"], one["end"]) for one in record["mentions"]] == gold
        assert all(one["kb_id"] and "candidates" in one for one in record["mentions"])
