"""Processes: threads of their libraries, forked workers, and the machine."""

import os
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError

_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
_bound: int | None = None
_held: list[Any] = []  # limits that last as long as this process


def bound_threads(n: int) -> None:
    """Let this process use a number of threads: BLAS, OpenMP, torch, FAISS, tokenizers and OpenVINO. Without
    that, each of several processes on a machine starts as many as there are cores.

    Call it before the libraries are imported and again when they are: some read the environment as they
    start, others can only be told later.

    Args:
        n: number of threads.
    """
    global _bound
    _bound = n
    for name in _VARIABLES:
        os.environ[name] = str(n)
    os.environ["TOKENIZERS_PARALLELISM"] = "true" if n > 1 else "false"
    from threadpoolctl import threadpool_limits

    _held[:] = [threadpool_limits(n)]
    bound_loaded_libraries(n)


def bound_loaded_libraries(n: int) -> None:
    """Bound the threads of FAISS and torch, if they are imported."""
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(n)
    if (faiss := sys.modules.get("faiss")) is not None:
        faiss.omp_set_num_threads(n)


def thread_bound() -> int | None:
    """What ``bound_threads`` was given; None = it was not called."""
    return _bound


_TOKENIZERS = "TOKENIZERS_PARALLELISM"
_is_ours = False  # the value of that variable


@cache
def make_fork_safe() -> None:
    """Give forked children one OpenMP thread per library.

    A thread pool does not survive a fork: the child of a parent that has used one waits
    for threads that do not exist. Call this where FAISS or torch is imported; calling
    it again does nothing. Only libraries that the parent has imported are touched.
    """
    if hasattr(os, "register_at_fork"):  # Windows has no fork
        os.register_at_fork(before=_no_tokenizer_threads, after_in_parent=_as_before, after_in_child=_one_thread)


def _no_tokenizer_threads() -> None:
    """Else ``tokenizers`` does the same in the child, but prints five lines about it in each."""
    global _is_ours
    if "tokenizers" in sys.modules and _TOKENIZERS not in os.environ:
        os.environ[_TOKENIZERS], _is_ours = "false", True


def _as_before() -> None:
    global _is_ours
    if _is_ours:
        os.environ.pop(_TOKENIZERS, None)
        _is_ours = False


def _one_thread() -> None:
    global _is_ours
    _is_ours = False  # where the child forks, too, the variable stays: its own pool of threads is gone
    if "tokenizers" in sys.modules:
        os.environ[_TOKENIZERS] = "false"  # whatever the user has set
    bound_loaded_libraries(1)


def machine_note(device: str | None = None) -> str:
    """Processor and threads, e.g. "AMD EPYC 7763, 2 cores, 1 thread"; or the name of the GPU.

    Args:
        device: a torch device such as "cuda:0"; None or "cpu" = the processor.
    """
    torch = sys.modules.get("torch")  # if it was not imported, it did not run
    if device is not None and device.startswith("cuda") and torch is not None:
        return str(torch.cuda.get_device_name(device))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = 0 if torch is None else torch.get_num_threads()
    of_torch = f", {threads} thread{'s' * (threads != 1)}" if threads else ""
    return f"{_processor()}, {cores} cores{of_torch}"


def memory_in_use() -> dict[str, int] | None:
    """Bytes of memory of this process: "own", and "mapped" files, whose pages are shared by the processes that use
    them. None = the system does not tell."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    lines = (line.split() for line in status.read_text(encoding="utf8").splitlines())
    kilobytes = {name: int(rest[0]) for name, *rest in lines if name in ("RssAnon:", "RssFile:")}
    return {"own": kilobytes["RssAnon:"] * 1024, "mapped": kilobytes["RssFile:"] * 1024}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf8", errors="replace").splitlines() if info.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def reopened(load: Callable[[str], Any], kind: str, path: str, fingerprint: str) -> Any:
    """What a folder holds, for a process that is told where it is and which one.

    Raises:
        PelError: if it has another fingerprint now.
    """
    loaded = load(path)
    if loaded.fingerprint != fingerprint:
        raise PelError(Errors.E017.format(kind=kind, path=path, expected=fingerprint, got=loaded.fingerprint))
    return loaded
