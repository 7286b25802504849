"""One thread that does all work with a model, and a queue of bounded length before it."""

import asyncio
import contextvars
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import Any

from ..errors import Errors
from .errors import RequestError

_FORGETS = 0.8  # weight of earlier jobs in the mean duration


@dataclass
class Job:
    """A function to be called by the worker.

    Attributes:
        function: takes ``is_wanted``, a function without arguments that becomes false when nobody
            waits for the result any longer.
        result: of the function.
    """

    function: Callable[[Callable[[], bool]], Any]
    result: "Future[Any]" = field(default_factory=Future)
    wanted: threading.Event = field(default_factory=threading.Event)


class Worker:
    """Calls functions one after the other, in a thread of its own.

    Args:
        name: of the thread.
        n_waiting: jobs that may wait, besides the one that runs.
    """

    def __init__(self, name: str, *, n_waiting: int):
        self.n_waiting = n_waiting
        self._waiting: deque[Job] = deque()
        self._change = threading.Condition()
        self._running: Job | None = None
        self._stopping = False
        self._seconds = 0.0  # of a job, on average
        context = contextvars.copy_context()  # of the thread that loaded the model: has thinc's device
        self._thread = threading.Thread(target=context.run, args=(self._work,), name=name, daemon=True)
        self._thread.start()

    def __len__(self) -> int:
        """Waiting jobs."""
        return len(self._waiting)

    @property
    def retry_after(self) -> int:
        """Seconds after which the queue has probably become shorter."""
        return max(1, math.ceil(self._seconds))

    async def run(self, function: Callable[[Callable[[], bool]], Any], *, timeout: float) -> Any:
        """Wait for the result of a function.

        Args:
            function: see ``Job``.
            timeout: seconds to wait at most. A job that waits is dropped then; one that runs is told.

        Returns:
            Its result.

        Raises:
            RequestError: if the queue is full, the time is over, or the worker stops.
        """
        job = Job(function)
        job.wanted.set()
        with self._change:
            if self._stopping:
                raise RequestError(Errors.E725, status=503)
            if len(self._waiting) >= self.n_waiting:
                raise RequestError(Errors.E724.format(n=self.n_waiting), retry_after=self.retry_after, status=503)
            self._waiting.append(job)
            self._change.notify()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.result), timeout)
        except asyncio.TimeoutError as err:
            if job.result.done() and not job.result.cancelled():
                return job.result.result()  # of the last moment, or an error of the function itself
            raise RequestError(Errors.E723.format(seconds=f"{timeout:g}"), status=504) from err
        except (asyncio.CancelledError, CancelledError) as err:
            if self._stopping:
                raise RequestError(Errors.E725, status=503) from err
            raise
        finally:
            job.wanted.clear()
            with self._change:
                if job in self._waiting:
                    self._waiting.remove(job)

    def stop(self, *, timeout: float) -> None:
        """Drop what waits, and wait for the job that runs.

        Args:
            timeout: seconds to wait for it at most.
        """
        with self._change:
            self._stopping = True
            dropped = list(self._waiting)
            self._waiting.clear()
            if self._running is not None:
                self._running.wanted.clear()
            self._change.notify()
        for job in dropped:
            job.result.cancel()
        self._thread.join(timeout)

    def _work(self) -> None:
        while (job := self._next()) is not None:
            started = time.monotonic()
            try:
                job.result.set_result(job.function(job.wanted.is_set))
            except BaseException as err:  # also of a library: the thread has to live on
                job.result.set_exception(err)
            seconds = time.monotonic() - started
            self._seconds = _FORGETS * (self._seconds or seconds) + (1.0 - _FORGETS) * seconds

    def _next(self) -> Job | None:
        with self._change:
            self._running = None
            while True:
                while not self._waiting and not self._stopping:
                    self._change.wait()
                if self._stopping:
                    return None
                job = self._waiting.popleft()
                if job.result.set_running_or_notify_cancel():
                    self._running = job
                    return job


def check_wanted(is_wanted: Callable[[], bool]) -> None:
    """Raises:
    RequestError: if nobody waits for the result any longer.
    """
    if not is_wanted():
        raise RequestError(Errors.E725, status=503)
