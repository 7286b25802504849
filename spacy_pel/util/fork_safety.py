"""Lets a forked worker use FAISS and torch after the parent did."""

import os
import sys

_registered = False


def make_fork_safe() -> None:
    """Give forked children one OpenMP thread per library.

    A thread pool does not survive a fork: the child of a parent that has used one waits
    for threads that do not exist. Call this where FAISS or torch is imported; calling
    it again does nothing. Only libraries that the parent has imported are touched.
    """
    global _registered
    if _registered or not hasattr(os, "register_at_fork"):  # Windows has no fork
        return
    os.register_at_fork(after_in_child=_one_thread)
    _registered = True


def _one_thread() -> None:
    faiss = sys.modules.get("faiss")
    if faiss is not None:
        faiss.omp_set_num_threads(1)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)
