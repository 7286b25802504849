"""Children that are killed, and what counts as the same state."""

import json
import random
import time

import pytest
from rich.console import Console

from benchmarks.kills import CASES, Case, state_of, try_case
from spacy_pel.util.saved_folder import write_folder

pytestmark = pytest.mark.slow


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


def test_what_is_left_or_half_written_is_broken(tmp_path, monkeypatch):
    """Every kill is counted, whatever it leaves; none ends the run of the others."""

    def broken(run):
        case = Case(lambda folder: None, run, "out", lambda path: None)
        monkeypatch.setitem(CASES, "made-up", case)
        found = try_case("made-up", tmp_path, kills=2, rng=random.Random(0), console=Console(quiet=True))
        assert found.kills == 2
        return found.broken

    def half(folder, resume):
        (folder / "out").mkdir(exist_ok=True)
        (folder / "out" / "metrics.jsonl").write_text('{"step": 1' if not resume else '{"step": ')
        time.sleep(0.3)

    def leaves(folder, resume):
        (folder / "out.parts").mkdir(exist_ok=True)
        time.sleep(0.3)

    assert len(broken(half)) == 2
    found = broken(leaves)
    assert len(found) == 2 and all("leaves ['out.parts']" in one for one in found)
    assert broken(lambda folder, resume: time.sleep(0.3)) == []
