"""The benchmark of speed, on a made-up knowledge base and a handful of documents."""

import json
from pathlib import Path

import pytest

from benchmarks import speed

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def check_row(row):
    assert row.keys() == speed.COLUMNS.keys()
    assert all(value is None or value > 0 for value in row.values())
    # one mention in each document
    assert row["warm_mentions_per_second"] == pytest.approx(row["warm_documents_per_second"])
    assert 0 < row["private_mb"] <= row["resident_mb"]


def test_tables_of_linkers_and_sizes(made_up, tmp_path, monkeypatch, run):
    """Each row in this process; the next test has one of its own."""

    def measure_here(linker, pipeline, texts):
        return speed.measure(linker, pipeline, json.loads(texts.read_text()))

    monkeypatch.setattr(speed, "measure_apart", measure_here)
    folder, _ = made_up
    peers = [speed.SPACY]
    options = ["--documents", 12, "--entities", 200, "--output", tmp_path / "speed.json"]
    options += [word for name in (speed.OURS, *peers) for word in ("--linker", name)]
    result = run(speed.main, folder / "pipeline", folder / "corpus.jsonl", *options)
    assert result.exit_code == 0, result.output
    tables = json.loads((tmp_path / "speed.json").read_text())
    assert [*tables["linkers"]] == [speed.OURS, *peers] and tables["documents"] == 12
    assert [*tables["entities"]] == ["200"]
    for row in (*tables["linkers"].values(), *tables["entities"].values()):
        check_row(row)
    assert speed.SPACY in result.stdout and "mentions/s" in result.stdout


def test_a_process_of_its_own(made_up, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    folder, documents = made_up
    (tmp_path / "texts.json").write_text(json.dumps([speed._as_json(document) for document in documents[:3]]))
    check_row(speed.measure_apart(speed.OURS, folder / "pipeline", tmp_path / "texts.json"))
