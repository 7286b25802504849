"""convert --preprocess, and the way back by restore."""

import json

import pytest

from spacy_pel.corpora import read_corpus
from spacy_pel.corpora.preprocessing import original_id, original_span
from spacy_pel.util import read_json, read_jsonl, write_jsonl

from .conftest import run

pytestmark = pytest.mark.slow

STEPS = ("--preprocess", "lowercase,longestmentions,sentencewindows", "--set", "sentencewindows.neighbours=0")


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
    done = run("convert", path / "low.jsonl", path / "dev.jsonl", "--reader", "jsonl", *STEPS, "--json")
    assert done.code == 0, done.err
    assert list(done.json["preprocessed"]) == ["lowercase", "longestmentions", "sentencewindows"]
    assert done.json["preprocessed"]["sentencewindows"] == {"sentences": 80, "sentences_without_mentions": 40}
    return path


def test_the_corpus(source):
    originals = {document.id: document for document in read_corpus(source / "dev.jsonl")}
    made = list(read_corpus(source / "low.jsonl"))
    assert [document.id for document in made] == [f"{name}#2" for name in originals]
    for document in made:
        original = originals[original_id(document)]
        for mention in document.mentions:
            start, end = original_span(document, mention)
            assert original.text[start:end].lower() == document.text[mention.start : mention.end]
    text = run("convert", source / "x.jsonl", source / "dev.jsonl", "--reader", "jsonl", *STEPS).out
    assert "texts lowered: 40" in text and "sentences: 80" in text
    files = source / "low.jsonl", source / "back.jsonl", "--corpus", source / "dev.jsonl"
    done = run("corpus", "restore", *files, "--json")
    assert done.json["documents"] == 40
    assert list(read_corpus(source / "back.jsonl")) == list(originals.values())


def test_windows_of_a_document_stay_together(source, tmp_path):
    args = ("--dev-share", "0.5", "--dev-out", tmp_path / "dev.jsonl")
    done = run("convert", tmp_path / "fit.jsonl", source / "dev.jsonl", "--reader", "jsonl", *STEPS, *args)
    assert done.code == 0
    fit, dev = ({original_id(one) for one in read_corpus(tmp_path / f"{name}.jsonl")} for name in ("fit", "dev"))
    assert len(fit) == len(dev) == 20 and not fit & dev


def test_evaluations_of_both_can_be_compared(folder, source, tmp_path):
    for name in ("dev", "low"):
        args = ("evaluate", folder / "pipeline", source / f"{name}.jsonl", "--output", tmp_path / name)
        assert run(*args).code == 0
    assert "E682" in run("compare", tmp_path / "dev", tmp_path / "low").err
    done = run("corpus", "restore", tmp_path / "low", tmp_path / "back", "--corpus", source / "low.jsonl", "--json")
    assert done.code == 0 and done.json["mentions"] == 80, done.err
    found = run("compare", tmp_path / "dev", tmp_path / "back", "--json")
    assert found.code == 0 and found.json["differences"]["recall@1"]["difference"] == 0.0, found.err
    metrics, before = (read_json(tmp_path / name / "metrics.json") for name in ("back", "low"))
    assert metrics["recall@1"] == before["recall@1"] and metrics["restored_from"] == str(tmp_path / "low")
    done = run("corpus", "restore", tmp_path / "low", tmp_path / "no", "--corpus", source / "dev.jsonl")
    assert done.code == 2 and "E240" in done.err and not list((tmp_path / "no").iterdir())


def test_links_in_the_original_texts(folder, source, tmp_path):
    assert run("link", folder / "pipeline", source / "low.jsonl", tmp_path / "low.jsonl").code == 0
    done = run("corpus", "restore", tmp_path / "low.jsonl", tmp_path / "back.jsonl", "--corpus", source / "dev.jsonl")
    assert done.code == 0, done.err
    documents = {document.id: document for document in read_corpus(source / "dev.jsonl")}
    for record in read_jsonl(tmp_path / "back.jsonl"):
        gold = [(mention.start, mention.end) for mention in documents[record["id"]].mentions]
        assert [(one["start"], one["end"]) for one in record["mentions"]] == gold
        assert all(one["kb_id"] and "candidates" in one for one in record["mentions"])


@pytest.mark.parametrize(
    "args,words",
    [
        (["--preprocess", "lowercas"], "No part named 'lowercas'"),
        (["--preprocess", "lowercase,lowercase"], "E243"),
        (["--set", "lowercase.x=1"], "E242"),
        (["--preprocess", "lowercase", "--set", "lowercase.x=1"], "'lowercase' has no setting x"),
        (["--preprocess", "sentencewindows", "--set", "sentencewindows.neighbours=-1"], "E209"),
        (
            ["--preprocess", "sentencewindows", "--set", "sentencewindows.neighbours=x"],
            "got 'x'. Write it like this: --set sentencewindows.neighbours=1",
        ),
    ],
)
def test_bad_steps(source, tmp_path, args, words):
    done = run("convert", tmp_path / "out.jsonl", source / "dev.jsonl", "--reader", "jsonl", *args)
    assert done.code == 2 and words in done.err and list(tmp_path.iterdir()) == []


def test_a_mention_without_a_start(source, tmp_path):
    record = next(read_jsonl(source / "low.jsonl"))
    write_jsonl(tmp_path / "low.jsonl", [{**record, "mentions": [{"end": 7}]}])
    done = run("corpus", "restore", tmp_path / "low.jsonl", tmp_path / "out.jsonl", "--corpus", source / "dev.jsonl")
    assert done.code == 2 and "E202" in done.err and "Traceback" not in done.err
    assert not (tmp_path / "out.jsonl").exists()


def test_offsets_of_another_text(source, tmp_path):
    record = next(read_jsonl(source / "low.jsonl"))
    record["text"] += "."
    write_jsonl(tmp_path / "low.jsonl", [record])
    done = run("corpus", "restore", tmp_path / "low.jsonl", tmp_path / "out.jsonl", "--corpus", source / "dev.jsonl")
    assert done.code == 2 and "E238" in done.err and not (tmp_path / "out.jsonl").exists()
