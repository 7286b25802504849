"""The benchmark of sizes on a made-up knowledge base: its tables, and what millions of documents take."""

import json
from pathlib import Path

import pytest

from benchmarks import scale

ROOT = Path(__file__).parents[2]


def test_what_many_documents_take():
    last = {"CPU ms": 64.0, "private MB": 1000.0}
    linked = [{"kB written": 2.0, "private MB of a worker": 500.0}]
    text = scale.calculated(last, linked)
    assert "10.0 hours, 72 GB written, 33 GB of memory" in text  # 36 million at 64 ms on 64 cores
    assert "GB" not in scale.calculated(last, []).split(scale.FORMULA)[0]


@pytest.mark.slow
def test_tables(made_up, tmp_path, run, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    folder, _ = made_up
    options = ["--documents", 2, "--documents", 8, "--processes", 2, "--rows", 200]
    options += ["--link-documents", 6, "--output", tmp_path / "scale.json"]
    result = run(scale.main, folder / "pipeline", folder / "corpus.jsonl", *options)
    assert result.exit_code == 0, result.output
    tables = json.loads((tmp_path / "scale.json").read_text())
    load, *rows = tables["stream"]
    assert load["load, CPU s"] > 0
    assert [(row["documents"], row["mentions"], row["new forms, %"]) for row in rows] == [(2, 1, 100), (8, 1, 100)]
    assert all(value > 0 for row in rows for value in row.values())
    assert tables["link"][0]["command"] == "link --n-process 2" and tables["link"][0]["CPU ms"] > 0
    exact, fast = tables["search"]
    assert (exact["rows"], exact["index"], exact["recall@64"]) == ("200", "exact", 1) and fast["recall@64"] >= 0.985
    assert "hours" in result.stdout


@pytest.mark.slow
def test_forms_come_again_and_errors_are_one_line(made_up, tmp_path, run):
    folder, documents = made_up
    texts = [document.text for document in documents[:3]]
    _, first, second = scale.stream(folder / "pipeline", texts * 2, [3, 6, 9])
    assert (first["new forms, %"], second["new forms, %"]) == (100, 0) and second["documents"] == 6
    result = run(scale.main, tmp_path / "none", folder / "corpus.jsonl", "--only-stream")
    assert result.exit_code == 2 and result.output.startswith("Error: [PEL-")
