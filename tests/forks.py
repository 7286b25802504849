"""Work in a process of its own, which is a copy of this one."""

import os
import signal
import sys
import time
from contextlib import contextmanager


def in_child(work, seconds=300):
    """The id of a process that does the work; it ends with 0, or 1 after an error or if the work is False."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            done = work()
        except BaseException as err:
            sys.stderr.write(f"{err!r}\n")
            os._exit(1)
        os._exit(done is False)
    return child


def end_of(child):
    """How a process ended: its exit code, or less than 0 for the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_here():
    """No handler can stop it."""
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def meanwhile(work):
    """Do it again and again in another process, with pauses in which what it wrote can be read."""

    def forever():
        while True:
            work()
            time.sleep(0.02)

    child = in_child(forever)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
