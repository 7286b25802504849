"""Worker processes that do not outlive the command."""

import os
import threading
import time
from contextlib import contextmanager
from typing import Iterator, List

_SECONDS = 1.0  # between two looks at the parent
_parents: List[int] = []  # process ids whose workers are watched; empty outside of the context


@contextmanager
def workers_end_with_this_process() -> Iterator[None]:
    """Forked workers exit soon after this process, even if it is killed; spaCy's would wait for texts
    forever. Where processes are not forked (Windows, macOS), nothing changes."""
    _parents.append(os.getpid())
    try:
        yield
    finally:
        _parents.pop()


def _watch_parent() -> None:
    if _parents and os.getppid() == _parents[-1]:
        threading.Thread(target=_exit_after, args=(_parents[-1],), daemon=True).start()


def _exit_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS)
    os._exit(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_watch_parent)
