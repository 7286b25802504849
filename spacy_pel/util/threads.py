"""How many threads the libraries of a process may use."""

import os
import sys
from typing import Any

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
