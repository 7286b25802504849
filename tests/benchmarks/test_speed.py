"""The benchmark of speed, on a made-up knowledge base and a handful of documents."""

import json
from pathlib import Path

import pytest

from benchmarks import speed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_tables_of_linkers_processes_and_sizes(made_up, tmp_path, monkeypatch, run):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder, _ = made_up
    peers = [speed.SPACY]
    options = ["--documents", 12, "--processes", 2, "--entities", 200, "--output", tmp_path / "speed.json"]
    options += [word for name in (speed.OURS, *peers) for word in ("--linker", name)]
    done = run(speed.main, folder / "pipeline", folder / "corpus.jsonl", *options)
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "speed.json").read_text())
    assert [*found["linkers"]] == [speed.OURS, *peers] and found["documents"] == 12
    assert [*found["processes"]] == ["2"] and [*found["entities"]] == ["200"]
    for row in (*found["linkers"].values(), *found["processes"].values(), *found["entities"].values()):
        assert row.keys() == speed.COLUMNS.keys()
        assert all(value is None or value > 0 for value in row.values())
        # one mention in each document
        assert row["warm_mentions_per_second"] == pytest.approx(row["warm_documents_per_second"])
        assert 0 < row["private_mb"] <= row["resident_mb"]
    assert found["processes"]["2"]["linking_mentions_per_second"] is None
    assert speed.SPACY in done.stdout and "mentions/s" in done.stdout
