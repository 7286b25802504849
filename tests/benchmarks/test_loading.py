"""The benchmark of loading, on a small pipeline."""

import pytest

from benchmarks.loading import main

pytestmark = pytest.mark.slow


def test_steps_of_loading(made_up, run):
    folder, _ = made_up
    arguments = [folder / "pipeline", folder / "corpus.jsonl", "--documents", 3, "--repeats", 1, "--only-ours"]
    result = run(main, *arguments)
    assert result.exit_code == 0, result.output
    head, _, *rows = [line.strip("| ").split(" | ") for line in result.output.splitlines()]
    assert head[0] == "step" and rows[0][0].startswith("import spacy") and rows[-1][0] == "3 documents"
    assert any(row[0].endswith(": KnowledgeBase") for row in rows)
    totals, resident = ([float(row[column].replace(",", "")) for row in rows] for column in (2, 3))
    assert totals == sorted(totals) and totals[-1] > 0 and resident[-1] > resident[0] > 50
