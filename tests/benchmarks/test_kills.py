"""Children that are killed, and what counts as the same state."""

import json
import time

import pytest

from benchmarks.kills import in_child, state_of
from spacy_pel.util.saved_folder import write_folder


def test_children_answer_fail_or_are_killed():
    assert in_child(lambda: "x" * 200_000)[0] == "x" * 200_000  # more than a pipe holds
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        in_child(lambda: 1 / 0)
    started = time.monotonic()
    assert in_child(lambda: time.sleep(60), kill_after=0.05)[0] is None
    assert time.monotonic() - started < 30


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
