"""One thread that does all work with a model, and a queue of bounded length before it."""

import asyncio
import contextvars
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any

from ..errors import Errors
from .guard import RequestError

_FORGETS = 0.8  # weight of earlier jobs in the mean duration
IsWanted = Callable[[], bool]  # whether anybody still waits for a result


class Worker:
    """Calls functions one after the other, in a thread of its own.

    Args:
        name: of the thread.
        n_waiting: jobs that may wait, besides the one that runs.
    """

    def __init__(self, name: str, *, n_waiting: int):
        self.n_waiting = n_waiting
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._context = contextvars.copy_context()  # of the thread that loaded the model: has thinc's device
        self._jobs: dict[Future[Any], threading.Event] = {}  # unfinished ones, and whether their results are wanted
        self._stopping = False
        self._seconds = 0.0  # of a job, on average

    def __len__(self) -> int:
        """Waiting jobs."""
        return sum(not (job.running() or job.done()) for job in self._jobs)

    async def run(self, function: Callable[[IsWanted], Any], *, timeout: float) -> Any:
        """Wait for the result of a function.

        Args:
            function: takes ``is_wanted``, a function without arguments that becomes false when nobody waits for the
                result any longer.
            timeout: seconds to wait at most. A job that waits is dropped then; one that runs is told.

        Returns:
            Its result.

        Raises:
            RequestError: if the queue is full, the time is over, or the worker stops.
        """
        if self._stopping:
            raise RequestError(Errors.E725, status=503)
        if len(self) >= self.n_waiting:
            seconds = max(1, math.ceil(self._seconds))  # after which the queue has probably become shorter
            raise RequestError(Errors.E724.format(n=self.n_waiting), retry_after=seconds, status=503)
        wanted = threading.Event()
        wanted.set()
        job = self._thread.submit(self._context.run, self._timed, function, wanted.is_set)
        self._jobs[job] = wanted
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job), timeout)
        except asyncio.TimeoutError as err:
            if job.done() and not job.cancelled():
                return job.result()  # of the last moment, or an error of the function itself
            raise RequestError(Errors.E723.format(seconds=f"{timeout:g}"), status=504) from err
        except (asyncio.CancelledError, CancelledError) as err:
            if self._stopping:
                raise RequestError(Errors.E725, status=503) from err
            raise
        finally:
            wanted.clear()
            job.cancel()  # if it still waits
            del self._jobs[job]

    def stop(self, *, timeout: float) -> None:
        """Drop what waits, and wait for the job that runs.

        Args:
            timeout: seconds to wait for it at most.
        """
        self._stopping = True
        for job, wanted in self._jobs.items():
            wanted.clear()
            job.cancel()
        wait([self._thread.submit(int)], timeout)  # follows the job that runs, also if nobody waits for that any longer
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _timed(self, function: Callable[[IsWanted], Any], is_wanted: IsWanted) -> Any:
        started = time.monotonic()
        try:
            return function(is_wanted)
        finally:
            seconds = time.monotonic() - started
            self._seconds = _FORGETS * (self._seconds or seconds) + (1.0 - _FORGETS) * seconds
