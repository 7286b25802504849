"""A worker that is killed stops the command; it does not wait for that worker's documents."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from spacy_pel.engines.job import LinkJob
from spacy_pel.engines.local import start_worker
from spacy_pel.engines.output import PartedOutput

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="finds the workers in /proc")]


def workers_of(process):
    """Ids of its child processes."""
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
        while process.poll() is None and time.monotonic() < end:
            if first.exists():
                break
            time.sleep(0.1)
        workers = workers_of(process)
        os.kill(workers[0], signal.SIGKILL)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 2
    assert "PEL-E668" in said and "--resume" in said and "Traceback" not in said
    assert first.exists()
    assert not (tmp_path / "out.jsonl").exists()
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def blas_and_torch_threads():
    import numpy as np
    import torch

    large = np.ones((500, 500), dtype=np.float32)
    assert (large @ large)[0, 0] == 500
    return {one["num_threads"] for one in threadpool_info()} | {torch.get_num_threads()}


def test_a_worker_has_one_thread(folder, tmp_path):
    """Of OpenBLAS, too: after a fork it starts as many as the parent had."""
    job = LinkJob(str(folder / "pipeline"), "", "")
    output = PartedOutput(str(tmp_path / "out"), ".jsonl")
    with threadpool_limits(2):
        assert 2 in blas_and_torch_threads()
        with ProcessPoolExecutor(1, initializer=start_worker, initargs=(job, output, 1)) as pool:
            assert pool.submit(blas_and_torch_threads).result() == {1}
