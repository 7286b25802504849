"""An interrupt or an error of the command ends its worker processes, too."""

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from ..util.threads import bound_threads

_parents: list[int] = []  # process ids whose workers are controlled; empty outside of the context


@contextmanager
def workers_end_with_this_process() -> Iterator[None]:
    """An interrupt or an error ends the workers before spaCy waits for them to finish their texts; on an
    interrupt, spaCy does not warn that they ended. Forked workers have one thread each.
    """
    quiet = ExitStack()
    others = set(multiprocessing.active_children())  # of the caller
    _parents.append(os.getpid())

    def interrupt(*_: Any) -> None:
        _kill_workers(others)
        quiet.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message=r"\[W127\]")
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()  # others cannot set a handler
    before = signal.signal(signal.SIGINT, interrupt) if in_main else None
    try:
        yield
    except BaseException:
        _kill_workers(others)
        raise
    finally:
        quiet.close()
        if in_main:
            signal.signal(signal.SIGINT, before)
        _parents.pop()


def _kill_workers(others: set[Any]) -> None:
    for worker in multiprocessing.active_children():
        if worker not in others:
            worker.kill()


def _bound_worker() -> None:
    if _parents and os.getppid() == _parents[-1]:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        bound_threads(1)  # of BLAS, too, which has threads again after a fork


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_bound_worker)
