"""link's Parquet and its JSON lines are read to the same thing, and commands take both."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from spacy_pel.corpora import read_corpus, read_links
from spacy_pel.util import read_jsonl, write_jsonl

from .conftest import done, refused, run

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture(scope="module")
def linked(folder, tmp_path_factory):
    """A folder with linked.jsonl and linked.parquet of the same documents."""
    path = tmp_path_factory.mktemp("linked")
    documents = list(read_jsonl(folder / "dev.jsonl"))
    for number, document in enumerate(documents):
        document["meta"] = {"number": number, "deep": [{"é": None}]} if number % 2 else {}
    write_jsonl(path / "in.jsonl", documents)
    for kind in ("jsonl", "parquet"):
        done("link", folder / "pipeline", path / "in.jsonl", path / f"linked.{kind}")
    return path


def test_both_are_the_same(linked):
    lines = list(read_jsonl(linked / "linked.jsonl"))
    assert any(m["kb_id"] == "NIL" for line in lines for m in line["mentions"])
    assert len(lines) == 40 and lines[1]["meta"]["deep"] == [{"é": None}]
    assert list(read_links(linked / "linked.parquet")) == lines
    assert list(read_links(linked / "linked.jsonl")) == lines
    assert list(read_corpus(linked / "linked.parquet")) == list(read_corpus(linked / "linked.jsonl"))
    stored = pq.read_table(linked / "linked.parquet").to_pylist()[1]["mentions"][0]["candidates"][0]
    assert list(stored) == ["id", "score"]


def test_linked_again_keeps_meta(folder, linked, tmp_path):
    done("link", folder / "pipeline", linked / "linked.parquet", tmp_path / "out.jsonl")
    metas = [line["meta"] for line in read_jsonl(tmp_path / "out.jsonl")]
    assert metas == [line["meta"] for line in read_jsonl(linked / "in.jsonl")]


@pytest.mark.parametrize("name", ["linked.jsonl", "linked.parquet"])
def test_links_are_no_gold_annotation_until_they_are_converted(folder, linked, tmp_path, name):
    links, gold = linked / name, tmp_path / "gold.jsonl"
    for words in (
        ("calibrate", folder / "pipeline", links),
        ("evaluate", folder / "pipeline", links, "--output", tmp_path / "out"),
        ("candidates", "eval", folder / "kb", links, "--pipeline", folder / "pipeline", "--output", tmp_path),
    ):
        assert f"spacy-pel convert GOLD.jsonl --reader jsonl {links}" in refused("E219", *words)
    converted = done("convert", gold, "--reader", "jsonl", links)
    assert "W202" not in converted.err and converted.err.count("W203") == 1
    assert run("evaluate", folder / "pipeline", gold, "--output", tmp_path / "out", "--json").json["n"] > 40


def test_links_train_with_a_warning_and_are_refused_as_dev_corpora(folder, linked, tmp_path):
    links = linked / "linked.jsonl"
    mined = done("mine", folder / "kb", folder / "model", links, tmp_path / "mined.jsonl")
    assert mined.err.count("W203") == 1
    paths = ["--paths.train", links, "--paths.dev", links, "--output", tmp_path / "run"]
    for words in (
        ("train", CONFIGS / "tiny.cfg", "--paths.kb", folder / "kb", *paths),
        ("debug", CONFIGS / "tiny.cfg", "--paths.kb", folder / "kb", *paths[:4]),
        ("ranker", "train", CONFIGS / "ranker_tiny.cfg", "--paths.pipeline", folder / "pipeline", *paths),
    ):
        refused("E219", *words)
