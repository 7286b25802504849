"""The peers of the benchmark, and the benchmark itself on a few mentions."""

import importlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention

pytest.importorskip("scispacy")
ROOT = Path(__file__).parents[2]
NAMES = ["aspirin", "ibuprofen", "heart attack", "heart failure", "kidney stone", "kidney failure", "fever"]


@pytest.fixture(scope="module")
def peers():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT))
        yield importlib.import_module("benchmarks.peers")


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    entities = [Entity(f"C{i}", name, (name.upper(),)) for i, name in enumerate(NAMES)]
    return KnowledgeBase.build(entities, tmp_path_factory.mktemp("bench") / "kb")


def corpus(*gold):
    documents = []
    for number, (name, entity_id) in enumerate(gold):
        documents.append(
            Document(f"{number}", f"A {name} here.", [Mention(2, 2 + len(name), "", (entity_id,))])
        )
    return documents


def test_scispacy_finds_similar_names(peers, kb):
    answers = peers.ScispacyLinker(kb).rank(["heart attacks", "fever", "heart attacks", "zzz"])
    assert answers[0].candidates[0][0] == "C2" and answers[0] == answers[2]
    assert answers[1].candidates[0] == ("C6", pytest.approx(1.0)) and answers[1].nil_score < 0.01
    assert answers[3].candidates == [] and answers[3].nil_score == 1.0


def test_prior_counts_and_falls_back(peers, kb):
    named = [("failure", ["C3"])] * 3 + [("Failure", ["C5"]), ("failure", ["X9"]), ("odd", ["X9"])]
    prior = peers.FrequencyPrior(kb, named)
    other = peers.Answer([("C5", 0.9), ("C0", 0.8)], 0.1)
    known, unknown = prior.rank(["failure", "odd"], [other, other])
    assert [entity_id for entity_id, _ in known.candidates] == ["C3", "C5", "C0"]
    assert [score for _, score in known.candidates[:2]] == [0.75, 0.25]
    assert known.candidates[2][1] < 0.25 and known.nil_score == pytest.approx(0.125)
    assert unknown.candidates == other.candidates and unknown.nil_score == pytest.approx(0.55)


def test_benchmark_runs_and_keeps_the_answers(peers, kb, tmp_path):
    linkers = importlib.import_module("benchmarks.linkers")
    kb.to_disk(tmp_path / "kb")
    train = corpus(("failure", "C3"), ("failure", "C3"), ("failure", "C5"))
    test = corpus(("failure", "C3"), ("failure", "C5"), ("fever", "C6"), ("gadget", "X1"))
    write_corpus(tmp_path / "train.jsonl", train)
    write_corpus(tmp_path / "test.jsonl", test)
    args = ["--kb", str(tmp_path / "kb"), "--cache", str(tmp_path / "cache")]
    args += ["--corpus", str(tmp_path / "test.jsonl"), "--train", str(tmp_path / "train.jsonl")]
    app = linkers.typer.Typer()
    app.command()(linkers.main)
    tables = []
    for run in ("first", "second"):
        result = CliRunner().invoke(app, [*args, "--output", str(tmp_path / run)], catch_exceptions=False)
        assert result.exit_code == 0, result.stderr
        assert "frequency prior" in result.stdout and "scispaCy" in result.stdout
        tables.append(json.loads((tmp_path / run / "linkers.json").read_text()))
        assert (tmp_path / run / "recall.png").is_file() and (tmp_path / run / "nil.png").is_file()
    assert tables[0] == tables[1]  # the rate too: the second run took the first one's answers
    prior = tables[0]["linkers"]["frequency prior"]
    assert prior["recall@1"] == pytest.approx(2 / 3) and prior["recall@5"] == 1.0
    assert (prior["n_nil"], prior["n_seen"], prior["nil_aupr"]) == (1, 2, 1.0)
    result = CliRunner().invoke(app, [*args[2:], "--output", str(tmp_path / "x")])
    assert result.exit_code == 2 and "--pipeline or --kb" in result.stderr
