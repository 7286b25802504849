"""The benchmark of speed, on a made-up knowledge base and a handful of documents."""

import importlib
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from spacy_pel.corpora import write_corpus
from spacy_pel.types import Document

ROOT = Path(__file__).parents[2]


@pytest.fixture
def speed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return importlib.import_module("benchmarks.speed")


def test_tables_of_linkers_processes_and_sizes(speed, tmp_path):
    texts = speed.made_up_pipeline(tmp_path, 120)
    write_corpus(tmp_path / "corpus.jsonl", [Document(str(n), text, []) for n, text in enumerate(texts)])
    peers = [speed.SPACY, *([speed.SCISPACY] if find_spec("scispacy") else [])]
    asked = [str(tmp_path / "pipeline"), str(tmp_path / "corpus.jsonl"), "--documents", "12"]
    for name in (speed.OURS, *peers):
        asked += ["--linker", name]
    asked += ["--processes", "2", "--entities", "200", "--output", str(tmp_path / "speed.json")]
    app = typer.Typer()
    app.command()(speed.main)
    done = CliRunner().invoke(app, asked, catch_exceptions=False)
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
