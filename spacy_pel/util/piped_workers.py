"""``nlp.pipe`` and its worker processes end together; by itself, spaCy waits forever for one that died."""

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from ..errors import Errors, PelError

_SECONDS = 1.0  # between two looks at the parent


def watch_workers() -> None:
    """Call this in the parent while spaCy starts a worker: ``nlp.pipe`` will raise an error when one dies.

    spaCy has no hook for that, so it changes the channels that spaCy's function is going to read.
    """
    _, pipe = _starting()
    for channel in pipe.get("bytedocs_recv_ch", ()):
        channel.recv = partial(_receive, channel, pipe["procs"])
    for queue in pipe.get("texts_q", ()):
        queue.cancel_join_thread()  # nobody reads the texts of a dead worker; do not wait for that at exit


def end_with_parent() -> None:
    """Call this in a forked child: one of spaCy's workers will exit soon after its parent."""
    worker, pipe = _starting()
    if worker is None or os.getppid() != worker._parent_pid:  # or the child of a worker
        return
    # while another process holds its end of a channel, a worker that dies does not end the channel
    for other, channel in zip(pipe["procs"], pipe["bytedocs_send_ch"], strict=True):
        if other is not worker:
            channel.close()
    threading.Thread(target=_exit_after, args=(worker._parent_pid,), daemon=True).start()


def _starting() -> tuple[Any, dict[str, Any]]:
    """The worker that spaCy is starting, and the
    variables of its function; None and {} if it starts none."""
    frame: Any = sys._getframe()
    while frame is not None and frame.f_code is not BaseProcess.start.__code__:
        frame = frame.f_back
    if frame is None or frame.f_back is None or frame.f_back.f_code.co_name != "_multiprocessing_pipe":
        return None, {}
    return frame.f_locals["self"], frame.f_back.f_locals


def _receive(channel: Any, workers: Sequence[Any]) -> Any:
    """The next message of a worker.

    Raises:
        PelError: if any worker has ended; they are told to only after the last message.
    """
    by_sentinel = {worker.sentinel: worker for worker in workers}
    ready = wait([channel, *by_sentinel])
    if channel in ready:
        try:
            return type(channel).recv(channel)
        except (EOFError, OSError):  # it died, perhaps in the middle of a message
            ready = wait(list(by_sentinel))
    ended = next(worker for sentinel, worker in by_sentinel.items() if sentinel in ready)
    ended.join()
    for worker in workers:
        worker.kill()
    signals = {-number: f" ({number.name})" for number in signal.Signals}
    raise PelError(Errors.E668.format(got=f"{ended.exitcode}{signals.get(ended.exitcode, '')}"))


def _exit_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)
