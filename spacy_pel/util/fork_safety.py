"""Lets a forked worker use FAISS, torch and tokenizers after the parent did."""

import os
import sys

from .piped_workers import end_with_parent, watch_workers
from .threads import bound_loaded_libraries

_TOKENIZERS = "TOKENIZERS_PARALLELISM"
_registered = False
_is_ours = False  # the value of that variable


def make_fork_safe() -> None:
    """Give forked children one OpenMP thread per library, and have ``nlp.pipe`` and its workers end together.

    A thread pool does not survive a fork: the child of a parent that has used one waits
    for threads that do not exist. Call this where FAISS or torch is imported; calling
    it again does nothing. Only libraries that the parent has imported are touched.
    """
    global _registered
    if _registered or not hasattr(os, "register_at_fork"):  # Windows has no fork
        return
    os.register_at_fork(before=_no_tokenizer_threads, after_in_parent=_as_before, after_in_child=_one_thread)
    os.register_at_fork(after_in_parent=watch_workers, after_in_child=end_with_parent)
    _registered = True


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
