"""What counts as the same state after a kill."""

import json

from benchmarks.kills import state_of
from spacy_pel.util.saved_folder import write_folder


def write(path, content, seconds):
    with write_folder(path, kind="test", version=1) as part:
        (part / "a.txt").write_text(content)
        (part / "build.json").write_text(json.dumps({"seconds": seconds}))
    (path / ".left.1.00000000.x").mkdir()
    (path / ".left.1.00000000.x" / "half").write_text(str(seconds))
    (path / "metrics.jsonl").write_text(json.dumps({"step": 1, "seconds": seconds}) + "\n")
    return state_of(path)


def test_measured_times_do_not_count(tmp_path):
    one = write(tmp_path / "one", "same", 1.0)
    assert sorted(one) == ["a.txt", "manifest.json", "metrics.jsonl"]
    assert write(tmp_path / "two", "same", 2.0) == one != write(tmp_path / "three", "other", 1.0)
