"""The peers of the benchmark, and the benchmark itself on a few mentions."""

import json

import pytest
import spacy

from spacy_pel.corpora import write_corpus
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention

pytest.importorskip("scispacy")
from benchmarks import peers  # noqa: E402
from benchmarks.linkers import main  # noqa: E402

pytestmark = pytest.mark.slow

NAMES = ["aspirin", "ibuprofen", "heart attack", "heart failure", "kidney stone", "kidney failure", "fever"]


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    entities = [Entity(f"C{i}", name, (name.upper(),)) for i, name in enumerate(NAMES)]
    return KnowledgeBase.build(entities, tmp_path_factory.mktemp("bench") / "kb")


def corpus(*gold):
    documents = []
    for number, (name, entity_id) in enumerate(gold):
        documents.append(Document(f"{number}", f"A {name} here.", [Mention(2, 2 + len(name), "", (entity_id,))]))
    return documents


def test_scispacy_finds_similar_names(kb):
    answers = peers.ScispacyLinker(kb).rank(["heart attacks", "fever", "heart attacks", "zzz"])
    assert answers[0].candidates[0][0] == "C2" and answers[0] == answers[2]
    assert answers[1].candidates[0] == ("C6", pytest.approx(1.0)) and answers[1].nil_score < 0.01
    assert answers[3].candidates == [] and answers[3].nil_score == 1.0


def test_benchmark_runs_and_keeps_the_answers(kb, tmp_path, run):
    kb.to_disk(tmp_path / "kb")
    train = corpus(("failure", "C3"), ("failure", "C3"), ("failure", "C5"))
    test = corpus(("failure", "C3"), ("failure", "C5"), ("fever", "C6"), ("gadget", "X1"))
    write_corpus(tmp_path / "train.jsonl", train)
    write_corpus(tmp_path / "test.jsonl", test)
    args = ["--kb", tmp_path / "kb", "--cache", tmp_path / "cache"]
    args += ["--corpus", tmp_path / "test.jsonl", "--train", tmp_path / "train.jsonl"]
    tables = []
    for output in (tmp_path / "first", tmp_path / "second"):
        result = run(main, *args, "--output", output)
        assert result.exit_code == 0, result.stderr
        assert "frequency prior" in result.stdout and "scispaCy" in result.stdout
        tables.append(json.loads((output / "linkers.json").read_text()))
        assert (output / "recall.png").is_file() and (output / "nil.png").is_file()
    assert tables[0] == tables[1]  # the rate too: the second run took the first one's answers
    prior = tables[0]["linkers"]["frequency prior"]
    assert prior["recall@1"] == pytest.approx(2 / 3) and prior["recall@5"] == 1.0
    assert (prior["n_nil"], prior["n_seen"], prior["nil_aupr"]) == (1, 2, 1.0)
    result = run(main, *args[2:], "--output", tmp_path / "x")
    assert result.exit_code == 2 and "--pipeline or --kb" in result.stderr


def test_pipelines_under_names_and_their_differences(kb, tmp_path, run):
    """Two pipelines with one KB, of which one has vectors so narrow that names collide."""
    kb.to_disk(tmp_path / "kb")
    for name, length in (("whole", 16), ("other", 1)):
        nlp = spacy.blank("en")
        encoder = {"@pel_encoders": "spacy-pel.HashEmbed.v1", "width": 8 * length}
        linker = nlp.add_pipe("proxy_entity_linker", config={"encoder": encoder})
        linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase.from_disk(tmp_path / "kb"))
        nlp.to_disk(tmp_path / name)
    write_corpus(tmp_path / "train.jsonl", corpus(("fever", "C6")))
    test = corpus(("aspirin", "C0"), ("fever", "C6"), ("heart attack", "C2"), ("gadget", "X1"))
    write_corpus(tmp_path / "test.jsonl", test)
    args = ["--corpus", tmp_path / "test.jsonl", "--train", tmp_path / "train.jsonl", "--output", tmp_path / "out"]
    pipelines = ["--pipeline", f"ours={tmp_path / 'whole'}", "--pipeline", f"small={tmp_path / 'other'}"]
    result = run(main, *args, *pipelines)
    assert result.exit_code == 0, result.stderr
    assert "ours minus each other linker" in result.stdout and "P(right) ECE" in result.stdout
    found = json.loads((tmp_path / "out" / "linkers.json").read_text())
    metrics = found["linkers"]
    assert list(metrics)[:2] == ["ours", "small"] and len(found["differences"]) == len(metrics) - 1
    for name, by_metric in found["differences"].items():
        for metric in ("recall@1", "recall@64"):
            expected = metrics["ours"][metric] - metrics[name][metric]
            assert by_metric[metric]["difference"] == pytest.approx(expected)
            assert by_metric[metric]["low"] <= expected <= by_metric[metric]["high"]
        unseen = metrics["ours"]["accuracy_unseen"] - metrics[name]["accuracy_unseen"]
        assert by_metric["recall@1 unseen"]["difference"] == pytest.approx(unseen)

    KnowledgeBase.build([Entity("Z1", "fever", ())], tmp_path / "other_kb")
    for options, message in (
        (["--pipeline", "x", "--pipeline", "y"], "a name of its own for each pipeline"),
        (["--pipeline", "scispaCy=x"], "scispaCy"),
        ([*pipelines[:2], "--kb", tmp_path / "other_kb"], "the same KB"),
    ):
        refused = run(main, *args, *options)
        assert refused.exit_code == 2 and message in refused.stderr
