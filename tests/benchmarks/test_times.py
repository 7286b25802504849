"""Times from folders as trainings, studies and evaluations leave them."""

import pytest

from benchmarks.times import Times, read_times
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
