"""The comparison of engines: what it counts, and one short run with a killed worker."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.engines import lines_of, main
from benchmarks.speed import made_up_pipeline
from spacy_pel.corpora.writers.parquet import write_parquet
from spacy_pel.util import write_jsonl

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]


def test_lines_are_sorted_and_those_of_all_parts(tmp_path):
    records = [{"id": one, "text": one, "mentions": [], "meta": {}} for one in "bca"]
    write_parquet(tmp_path / "part-000000.parquet", records[:2])
    write_parquet(tmp_path / "part-000001.parquet", records[2:])
    write_parquet(tmp_path / "_unfinished.parquet", records)
    lines = lines_of(tmp_path)
    assert [json.loads(line)["id"] for line in lines] == ["a", "b", "c"]
    assert lines_of(tmp_path / "part-000001.parquet") == lines[:1]


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
