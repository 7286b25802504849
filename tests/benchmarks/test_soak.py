"""The soak: its texts, its figures, and one short run."""

import sys
from pathlib import Path

import pytest

from benchmarks.soak import Reading, growth, in_steps, main, watch, watch_server
from benchmarks.speed import made_up_pipeline
from spacy_pel.util import read_jsonl, write_jsonl

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def reading(documents, resident):
    return Reading(documents, 1.0, resident, resident / 2, resident, 1)


def test_growth_is_that_after_the_first_documents():
    readings = [reading(0, 10), reading(50, 70), reading(60, 60), reading(100, 100), reading(250, 102)]
    readings += [reading(210, 104), reading(300, 101)]
    steps = in_steps(readings, 100)
    assert [(step.documents, step.resident) for step in steps] == [(50, 70), (100, 100), (210, 104), (300, 101)]
    assert growth(steps, 100) == pytest.approx(0.04)
    assert growth(steps, 200) == 0.0
    assert growth(steps[:2], 100) != growth(steps[:2], 100)  # nan


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """Those of ``corpus.jsonl``, beside a pipeline; memory is read often."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr("benchmarks.soak._EVERY", 0.02)
    made_up = made_up_pipeline(tmp_path, 120)
    write_jsonl(tmp_path / "corpus.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(made_up)])
    return made_up


@linux
def test_command(texts, tmp_path, run):
    options = ["--step", 50, "--limit", 100, "--work", tmp_path / "work", "--processes", 1]
    paths = (tmp_path / "pipeline", tmp_path / "corpus.jsonl")
    done = run(main, *paths, *options, "--documents", 800, "--after", 50)
    assert "Growth after the first 50 documents" in done.stdout, done.output
    assert done.exit_code == 0
    lines = list(read_jsonl(tmp_path / "work" / "linked.jsonl"))
    assert len(lines) == 800 and lines[0]["text"] == texts[0] and lines[0]["mentions"]
    too_few = run(main, *paths, *options, "--documents", 100, "--after", 90)
    assert too_few.exit_code == 1 and "Too few documents" in too_few.stdout, too_few.output
    with pytest.raises(RuntimeError, match="link ended with 2.*Error"):
        watch(["link", str(tmp_path / "none"), "x", "y"], tmp_path / "parts", 1, tmp_path / "log")


@linux
def test_the_same_through_a_server(texts, tmp_path, run):
    options = ["--serve", "--documents", 400, "--step", 50, "--after", 50, "--limit", 100]
    done = run(main, tmp_path / "pipeline", tmp_path / "corpus.jsonl", *options)
    assert "Memory of serve" in done.stdout and "Growth after the first 50 documents" in done.stdout, done.output
    assert done.exit_code == 0
    with pytest.raises(RuntimeError, match="(?s)serve ended: .*PEL-E002"):
        watch_server(tmp_path / "none", ["fever"], tmp_path / "log")
