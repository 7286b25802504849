"""The benchmark that compares pipelines on weights that are fitted on the corpus itself."""

import json

import numpy as np
import pytest

from benchmarks.pipelines import MEASURES, Run, compare, main
from spacy_pel.errors import PelError

pytestmark = pytest.mark.slow


def a_run(first, found, unseen) -> Run:
    flags = (np.array(one, dtype=np.bool_) for one in (first, found, unseen))
    return Run(*flags, np.arange(len(first)), [f"mention {i}" for i in range(len(first))])


def test_differences_are_of_the_other_run_to_the_base():
    base = a_run([1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1])
    other = a_run([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1])
    found = compare(base, other)
    assert list(found) == list(MEASURES)
    assert [(one.a, one.b) for one in found.values()] == [(0.5, 1), (2 / 3, 1), (0, 1), (0.75, 1)]
    assert all(one.difference == 0 for one in compare(base, base).values())
    # unseen is what the first pipeline has not seen: the columns are of the same mentions
    assert [one.b for one in compare(other, base).values()] == [0.5, 0, 0.5, 0.75]


def test_other_mentions_cannot_be_compared():
    base = a_run([1, 1], [1, 1], [0, 0])
    with pytest.raises(PelError, match="2 mentions with an entity for the first and 1"):
        compare(base, a_run([1], [1], [0]))


def test_the_command(made_up, tmp_path, run):
    folder, _ = made_up
    again = tmp_path / "again"
    again.symlink_to(folder / "pipeline", target_is_directory=True)
    options = ["--pipeline", folder / "pipeline", "--pipeline", again, "--output", tmp_path / "pipelines.json"]
    done = run(main, folder / "corpus.jsonl", *options)
    assert done.exit_code == 0, done.output
    written = json.loads((tmp_path / "pipelines.json").read_text())
    assert written["mentions"] == {"recall@1": 60, "recall@1, seen": 0, "recall@1, unseen": 60, "candidates": 60}
    one, other = written["pipelines"].values()
    assert one == other and one["recall@1"]["difference"] == 0 and one["candidates"]["b"] > 0.5
    missing = run(main, tmp_path / "none.jsonl", *options)
    assert missing.exit_code == 2 and "Error:" in missing.output
