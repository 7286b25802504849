"""The comparison of engines: what it counts, and one short run with a killed worker."""

import sys
from pathlib import Path

import pytest

from benchmarks.engines import main
from benchmarks.speed import made_up_pipeline
from spacy_pel.util import write_jsonl

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def test_a_run_with_a_killed_worker(tmp_path, monkeypatch, run):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr("benchmarks.engines._EVERY", 0.02)
    monkeypatch.setattr("benchmarks.engines._MEMORY_EVERY", 0.5)
    texts = made_up_pipeline(tmp_path, 120) * 5
    write_jsonl(tmp_path / "in.jsonl", [{"id": str(n), "text": text} for n, text in enumerate(texts)])
    options = ["--documents", 600, "--only", "local", "--part-size", 20]
    result = run(main, tmp_path / "pipeline", tmp_path / "in.jsonl", *options)
    assert result.exit_code == 0, (result.output, result.exception)
    killed, lost, twice, equal = result.stdout.splitlines()[-2].replace("│", " ").split()[-4:]
    assert (killed, lost, twice, equal) == ("1", "0", "0", "yes")
