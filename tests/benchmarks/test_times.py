"""The table of times, from folders as trainings, studies and evaluations leave them."""

import pytest

from benchmarks.times import HEAD, Times, main, read_times, table_rows
from spacy_pel.errors import PelError
from spacy_pel.util import write_json, write_jsonl


@pytest.fixture
def folders(tmp_path):
    records = [{"step": step, "seconds": 3.0 * step, "examples_per_second": rate} for step, rate in ((10, 5), (20, 6))]
    write_jsonl(tmp_path / "train" / "metrics.jsonl", records)
    write_jsonl(tmp_path / "train" / "steps.jsonl", [{"step": step} for step in range(1, 24)])
    (tmp_path / "train" / "model-best").mkdir()
    (tmp_path / "train" / "model-best" / "weights").write_bytes(bytes(2_500_000))
    write_json(tmp_path / "test" / "metrics.json", {"mentions_per_second": 123.4, "machine": "here"})
    study = {"train_seconds": 120.0, "mentions_per_second": 50.0}
    write_json(tmp_path / "study" / "evaluation" / "metrics.json", study)
    write_json(tmp_path / "pipeline" / "config.cfg", "x" * 996)
    return tmp_path


def test_what_each_kind_of_folder_says(folders):
    assert read_times(folders / "train") == Times(60.0, 23, 6, None, 2_500_000, None)
    assert read_times(folders / "test") == Times(linked_per_second=123.4, machine="here")
    assert read_times(folders / "study") == Times(seconds=120.0, linked_per_second=50.0)
    assert read_times(folders / "pipeline").model_bytes == 999
    with pytest.raises(PelError):
        read_times(folders / "none")


def test_a_row_for_each_generator(folders):
    made = {"bm25": {"mentions_per_second": 10.0, "build_seconds": 30.0}, "exact": {"mentions_per_second": 20.0}}
    write_json(folders / "found" / "candidates.json", {"generators": made})
    assert table_rows(f"found={folders / 'found'}") == [
        ["found: bm25", "0.5", "–", "–", "10.0", "–", "–"],
        ["found: exact", "–", "–", "–", "20.0", "–", "–"],
    ]


def test_command(folders, tmp_path, run):
    given = [f"ours={folders / 'train'},{folders / 'test'}", str(folders / "study")]
    done = run(main, *given, "--output", tmp_path / "times.md")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == f"| {' | '.join(HEAD)} |" and lines[2] == "| ours | 1.0 | 23 | 6.0 | 123.4 | 2.5 | here |"
    assert lines[3].endswith("study | 2.0 | – | – | 50.0 | – | – |")
    assert (tmp_path / "times.md").read_text() == done.stdout
    assert run(main, folders / "none").exit_code == 2
