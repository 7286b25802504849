"""Worker processes and the command end together."""

import multiprocessing
import os
import signal
import threading
import time
import warnings
from contextlib import ExitStack, contextmanager
from multiprocessing.queues import Queue
from typing import Any, Iterator, List, Optional

from ..errors import Errors, PelError
from ..util.threads import bound_threads

_SECONDS = 1.0  # between two looks at the other processes
_parents: List[int] = []  # process ids whose workers are watched; empty outside of the context


@contextmanager
def workers_end_with_this_process() -> Iterator[None]:
    """Forked workers exit soon after this process, even if it is killed; spaCy's would wait for texts
    forever. Where processes are not forked (Windows, macOS), that changes nothing.

    If a worker is killed, this process stops; spaCy would wait for its documents forever. An interrupt or an
    error ends the workers before spaCy waits for them to finish their texts; on an interrupt, spaCy does not
    warn that they ended.

    RAISES (PelError): if a worker was killed.
    """
    watch, quiet = _Workers(), ExitStack()
    _parents.append(os.getpid())

    def interrupt(*_: Any) -> None:
        watch.kill()
        quiet.enter_context(warnings.catch_warnings())
        warnings.filterwarnings("ignore", message=r"\[W127\]")
        raise KeyboardInterrupt

    in_main = threading.current_thread() is threading.main_thread()  # others cannot set a handler
    before = signal.signal(signal.SIGINT, interrupt) if in_main else None
    try:
        yield
    except BaseException as err:
        watch.end()
        failed = watch.exit_code
        watch.kill()
        watch.forget_texts()
        # from the pipe of an ended worker
        if isinstance(err, (EOFError, OSError)) and failed is not None:
            raise PelError(Errors.E668.format(got=failed)) from err
        raise
    finally:
        quiet.close()
        if in_main:
            signal.signal(signal.SIGINT, before)
        _parents.pop()
        watch.end()


class _Workers:
    """Watches the workers that start from now on. Once one has failed, all are ended: then spaCy notices.

    exit_code (Optional[int]): of the worker that failed; negative = the number of a signal.
    """

    def __init__(self) -> None:
        self.exit_code: Optional[int] = None
        self._started: List[Any] = []
        self._queues: List[Queue] = []  # of texts for the workers
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        start = multiprocessing.Process.start

        # multiprocessing forgets a worker that has ended as soon as the next one starts
        def start_and_note(process: Any) -> None:
            # those that have ended well hold two file descriptors each
            self._started = [one for one in self._started if one.exitcode != 0]
            if not self._started:
                self._queues.clear()
            self._queues += [one for one in process._args if isinstance(one, Queue)]
            start(process)
            self._started.append(process)

        self._start = start
        multiprocessing.Process.start = start_and_note  # type: ignore[method-assign, assignment]
        self._thread.start()

    def end(self) -> None:
        """Stop watching, after a last look."""
        multiprocessing.Process.start = self._start  # type: ignore[method-assign]
        self._ended.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS):
            self._look()

    def _look(self) -> None:
        if self.exit_code is None:
            self.exit_code = next((one.exitcode for one in self._started if one.exitcode), None)
        if self.exit_code is not None:
            self.kill()  # also those that started after the failure

    def kill(self) -> None:
        """End the workers that have started."""
        for worker in self._started:
            worker.kill()

    def forget_texts(self) -> None:
        """The texts in the queues of ended workers are read by nobody: do not wait for that at exit."""
        for queue in self._queues:
            queue.cancel_join_thread()


def _watch_parent() -> None:
    if _parents and os.getppid() == _parents[-1]:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
        bound_threads(1)  # of BLAS, too, which has threads again after a fork
        threading.Thread(target=_exit_after, args=(_parents[-1],), daemon=True).start()


def _exit_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watch_parent)
