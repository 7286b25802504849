"""The thread that works with the model, and how it ends."""

import asyncio
import threading
import time

import pytest

from spacy_pel.serving.guard import RequestError
from spacy_pel.serving.worker import Worker


def test_stopping_waits_for_a_job_that_was_given_up():
    ended = threading.Event()

    def job(is_wanted):
        while is_wanted():
            time.sleep(0.01)
        time.sleep(0.2)
        ended.set()

    worker = Worker("test", n_waiting=1)
    with pytest.raises(RequestError) as refused:
        asyncio.run(worker.run(job, timeout=0.1))
    assert refused.value.status == 504
    worker.stop(timeout=60)
    assert ended.is_set()


def test_stopping_does_not_wait_for_jobs_that_wait():
    def job(is_wanted):
        started.set()
        while is_wanted():
            time.sleep(0.01)
        return "told"

    async def stop():
        running = asyncio.create_task(worker.run(job, timeout=100))
        await asyncio.to_thread(started.wait)
        waiting = asyncio.create_task(worker.run(job, timeout=100))
        await asyncio.sleep(0)
        stopping = asyncio.to_thread(worker.stop, timeout=100)
        return await asyncio.wait_for(asyncio.gather(stopping, running, waiting, return_exceptions=True), 50)

    started, worker = threading.Event(), Worker("test", n_waiting=1)
    _, told, dropped = asyncio.run(stop())
    assert told == "told" and isinstance(dropped, RequestError) and dropped.status == 503
