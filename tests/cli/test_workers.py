"""A worker that is killed stops the command; it does not wait for that worker's documents."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")


def workers_of(process):
    """RETURNS (List[int]): ids of its child processes."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in children.read_text().split()]


def test_a_killed_worker_ends_the_command(folder, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "Aspirin for fever."}\n' * 20_000)
    args = [tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--n-process", "2", "--part-size", "10"]
    with subprocess.Popen(
        [sys.executable, "-m", "spacy_pel", "link", *map(str, (folder / "pipeline", *args))],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        first = tmp_path / "out.jsonl.parts" / "part-000000.jsonl"
        end = time.monotonic() + 120
        while not first.exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        one, other = workers_of(process)
        os.kill(one, signal.SIGKILL)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 2
    assert "PEL-E668" in said and "exit code -9" in said and "--resume" in said and "Traceback" not in said
    assert first.exists() and not (tmp_path / "out.jsonl").exists()
    assert not Path(f"/proc/{other}").exists()
