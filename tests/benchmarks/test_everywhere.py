"""The bench of corpora on a made-up knowledge base: its numbers, what it keeps, and its errors."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from benchmarks import everywhere
from benchmarks.linkers import OURS
from spacy_pel.corpora import write_corpus
from spacy_pel.evaluation import Outcomes, Prediction
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

FIXTURES = Path(__file__).parents[1] / "fixtures" / "corpora"


def prediction(gold, kb_id, probability, seen=True):
    found = [(kb_id if kb_id != "NIL" else "X", 1.0)]
    return Prediction("d", 0, 1, "a", "", gold, kb_id, found, seen=seen, probability=probability)


def test_measures():
    rows = [prediction(["A"], "A", 0.95), prediction(["A"], "B", 0.85, seen=False), prediction(["A"], "NIL", 0.5)]
    found = everywhere.measured(Outcomes.of(rows))
    assert found["recall@1"] == found["accuracy"] == pytest.approx(1 / 3) and found["recall@1 unseen"] == 0
    assert (found["links_said"], found["links_right"]) == (pytest.approx(0.9), 0.5)
    assert found["links_ece"] == pytest.approx((0.05 + 0.85) / 2)
    assert found["nils_said"] is found["nils_ece"] is None, "the corpus has no NIL"
    assert (found["precision@80"], found["coverage@80"]) == (0.5, pytest.approx(2 / 3))
    assert (found["precision@90"], found["coverage@90"]) == (1, pytest.approx(1 / 3))
    with_nil = everywhere.measured(Outcomes.of([*rows, prediction([], "NIL", 0.7)]))
    assert (with_nil["nils_said"], with_nil["nils_right"]) == (pytest.approx(0.6), 0.5)
    assert {key for _, keys in everywhere.COLUMNS.values() for key in keys} == found.keys()


def test_the_mean_leaves_out_the_training_text():
    def corpus(value, in_training):
        linkers = {OURS: {"recall@1": value}}
        return {"n": 10, "n_unseen": 1, "in_training": in_training, "linkers": linkers}

    corpora = {"a": corpus(0.9, 3), "b": corpus(0.5, 0), "c": corpus(None, 0), "d": corpus(0.3, 0)}
    mean = everywhere.with_mean(corpora)
    assert mean["linkers"][OURS]["recall@1"] == pytest.approx(0.4) and mean["n"] == 30


def test_craft_by_cross_references():
    files = sorted((FIXTURES / "craft").iterdir(), key=lambda path: path.suffix)
    kb = KnowledgeBase([Entity("C1", "Reye syndrome", xrefs=("MONDO:0019163",))])
    documents = everywhere.read(kb, files, None, part="train")
    named = [(document.text[m.start : m.end], m.ids) for document in documents for m in document.mentions]
    assert named == [("Reye's syndrome", ("C1",))]


@pytest.fixture
def data(made_up, tmp_path):
    folder, documents = made_up
    write_corpus(tmp_path / "annotated.jsonl", documents[:20])
    write_corpus(tmp_path / "notes.jsonl", documents[20:40])
    write_corpus(tmp_path / "mine.jsonl", documents[10:30])
    return folder / "pipeline", tmp_path


@pytest.mark.slow
def test_it_measures_once(data, run, monkeypatch):
    pytest.importorskip("scispacy")
    pytest.importorskip("matplotlib")
    pipeline, folder = data
    output = folder / "out"
    options = ["--data", folder, "--corpus", "notes", "--corpus", "mine", "--documents", 15, "--output", output]
    first = run(everywhere.main, pipeline, *options)
    assert first.exit_code == 0, first.output
    assert "mine*" in first.stdout and "mean" in first.stdout and "is not installed" in first.stdout
    report = json.loads((output / "everywhere.json").read_text())
    assert report["corpora"]["notes"]["n"] == 15 and report["corpora"]["mine"]["in_training"] == 10
    assert len(report["mean"]["linkers"]) == 4 and (output / "everywhere.png").stat().st_size
    assert report["corpora"]["notes"]["linkers"][OURS]["recall@1"] == 1

    def not_again(*_):
        raise AssertionError("it was measured again")

    monkeypatch.setattr(everywhere.Bench, "__init__", not_again)
    assert run(everywhere.main, pipeline, *options).output == first.output
    changed = folder / "pipeline"
    shutil.copytree(pipeline, changed)
    (changed / "meta.json").write_text((changed / "meta.json").read_text() + "\n")
    assert isinstance(run(everywhere.main, changed, *options).exception, AssertionError)


@pytest.mark.parametrize("options", [["--corpus", "other"], ["--train", "other"], ["--data", "nowhere"]])
def test_what_is_missing_is_one_line(data, run, options):
    pipeline, folder = data
    result = run(everywhere.main, pipeline, "--data", folder, "--output", folder / "out", *options)
    assert result.exit_code == 2 and result.output.startswith("Error: Expected ") and "got none" in result.output


def test_nothing_is_a_dash():
    assert everywhere._cell({"a": None, "b": np.float64(0.5)}, "{} ({})", ("a", "b")) == "– (50.0)"
