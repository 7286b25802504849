"""Inference with OpenVINO: the fastest way on a CPU, an optional dependency."""

import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any
from weakref import WeakSet

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..registry import registry
from ..util.processes import thread_bound
from .backend import EncodeBatch, Precision, TorchBackend

_process: int | None = None  # that OpenVINO runs in; its threads do not survive a fork


@registry.pel_backends("spacy-pel.OpenVinoBackend.v1")
class OpenVinoBackend:
    """Converts a tower in memory (no ONNX file) and runs it with OpenVINO's CPU plugin. A process that is
    forked from one that has done so runs it with torch.

    Args:
        precision: as for ``TorchBackend``; "bfloat16" is used where the processor has it. None = "float32".

    Raises:
        PelError: if OpenVINO is not installed.
    """

    def __init__(self, *, precision: Precision | None = None):
        if find_spec("openvino") is None:
            raise PelError(Errors.E003.format(feature="OpenVinoBackend", package="openvino", extra="openvino"))
        self.precision = precision

    def prepare(self, tower: Any) -> EncodeBatch:
        """Convert and compile a tower (about 2 seconds for MiniLM).

        Args:
            tower: ids and mask (batch, length) -> vectors (batch, width).

        Returns:
            The same on numpy arrays.
        """
        global _process
        forked = TorchBackend(precision=self.precision).prepare(tower)
        if _process not in (None, os.getpid()):
            return forked
        _process = os.getpid()
        tower.eval()
        example = torch.ones((2, 8), dtype=torch.int64)
        with _no_telemetry(), warnings.catch_warnings(), torch.inference_mode():
            import openvino

            warnings.simplefilter("ignore", torch.jit.TracerWarning)  # about constants of the tower
            model = openvino.convert_model(tower, example_input=(example, example))
        hint = "bf16" if self.precision == "bfloat16" else "f32"
        settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": hint, "PERFORMANCE_HINT": "THROUGHPUT"}
        if (bound := thread_bound()) is not None:  # it does not read the variables that others do
            settings["INFERENCE_NUM_THREADS"] = bound
        compiled = openvino.compile_model(model, "CPU", settings)
        return _Compiled(compiled, forked)


class _Compiled:
    """A compiled model as a function. One call keeps one of its streams busy, which is one core: whoever
    has several batches calls it from ``workers`` threads (1.5 to 1.8 times as many sequences on two cores).
    """

    def __init__(self, compiled: Any, forked: EncodeBatch):
        self._compiled = compiled
        self._forked = forked  # what a forked process does
        self._thread = threading.local()  # an infer request serves one thread at a time
        self._streams = int(compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
        _all_compiled.add(self)

    @property
    def workers(self) -> int:
        """Threads that may call it at a time."""
        return self._streams if _process == os.getpid() else 1

    def __call__(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Of each sequence of the batch."""
        if _process != os.getpid():
            return self._forked(ids, mask)
        if not hasattr(self._thread, "request"):
            self._thread.request = self._compiled.create_infer_request()
        # the request overwrites this output with the next one
        return np.array(self._thread.request.infer((ids, mask))[0], dtype=np.float32)


_all_compiled: "WeakSet[_Compiled]" = WeakSet()


def _never_free() -> None:
    """Freeing a model waits for its threads, which a forked process lacks; it would hang at its exit."""
    for compiled in _all_compiled:
        for held in (compiled, getattr(compiled._thread, "request", None)):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_never_free)


@contextmanager
def _no_telemetry() -> Iterator[None]:
    """OpenVINO reports its import and each conversion to its makers, from a forked process each
    time. Where its package for that cannot be imported it stays silent; we keep it from being
    imported with OpenVINO, unless the user has imported it already.
    """
    name = "openvino_telemetry"
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
