"""A worker that is killed stops the command; it does not wait for that worker's documents."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import spacy
from threadpoolctl import threadpool_info, threadpool_limits

from spacy_pel.engines.local import workers_end_with_this_process

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")]


def workers_of(process):
    """Ids of its child processes."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in children.read_text().split()]


@pytest.mark.parametrize("early", [False, True])
def test_a_killed_worker_ends_the_command(folder, tmp_path, early):
    """early: as soon as the first worker starts; otherwise once there are results."""
    (tmp_path / "in.jsonl").write_text('{"text": "Aspirin for fever."}\n' * 20_000)
    args = [tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--n-process", "2", "--part-size", "10"]
    with subprocess.Popen(
        [sys.executable, "-m", "spacy_pel", "link", *map(str, (folder / "pipeline", *args))],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        parts = tmp_path / "out.jsonl.parts"
        first = parts / "part-000000.jsonl"
        end = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < end:
            if parts.exists() and workers_of(process) if early else first.exists():
                break
            time.sleep(0.001 if early else 0.1)
        workers = workers_of(process)
        os.kill(workers[0], signal.SIGKILL)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 2
    assert "PEL-E668" in said and "exit code -9" in said and "--resume" in said and "Traceback" not in said
    assert first.exists() != early and not (tmp_path / "out.jsonl").exists()
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_an_interrupt_warns_of_no_worker_wherever_it_comes(recwarn):
    """Here between two documents, in a function that keeps the iterator."""

    def link():
        docs = spacy.blank("en").pipe(["Fever."] * 20, n_process=2, batch_size=1)
        next(docs)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)

    with pytest.raises(KeyboardInterrupt), workers_end_with_this_process():
        link()
    assert not multiprocessing.active_children()
    assert not [warning for warning in recwarn if "W127" in str(warning.message)]


def test_a_worker_has_one_thread():
    """Of OpenBLAS, too: after a fork it starts as many as the parent had."""
    import numpy as np
    import torch

    large = np.ones((500, 500), dtype=np.float32)
    with threadpool_limits(2), workers_end_with_this_process():
        assert (large @ large)[0, 0] == 500
        assert any(one["num_threads"] == 2 for one in threadpool_info() if one["user_api"] == "blas")
        child = os.fork()
        if child == 0:
            sizes = {one["num_threads"] for one in threadpool_info()} | {torch.get_num_threads()}
            os._exit(40 if sizes == {1} and (large @ large)[0, 0] == 500 else 41)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 40
