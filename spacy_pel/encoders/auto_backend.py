"""The backend where none is named: torch, and OpenVINO for long runs on a processor where it is faster."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..registry import registry
from ..util import logger
from .backend import Backend, EncodeBatch, TorchBackend, native_bfloat16

_STARTED = os.getpid()  # another one = a forked child


@registry.pel_backends("spacy-pel.AutoBackend.v1")
class AutoBackend:
    """Begins with torch, which is ready at once, and changes to a faster backend before the call that brings
    the number of sequences to ``after``. On a GPU, or where no backend is faster, it stays with torch.

    OpenVINO is 1.6 times as fast as torch in bfloat16, and 2.3 times in float32 on AMD's
    processors; on Intel's they are equal in float32 (batches of 8 and more). Converting MiniLM takes 2 to 5
    seconds and 180 MB, as long as torch takes for about 2,000 mentions.

    Args:
        after: sequences of a tower to encode with torch before it is converted.
        then: the faster backend; None = OpenVINO if it is installed and faster on this
            processor, in bfloat16 where the processor has it, else float32.
    """

    def __init__(self, *, after: int = 2000, then: Backend | None = None):
        self.after = after
        self.then = then

    def prepare(self, tower: Any) -> EncodeBatch:
        """Bind a tower; nothing is converted yet.

        Args:
            tower: ids and mask (batch, length) -> vectors (batch, width).

        Returns:
            The same on numpy arrays.
        """
        if next(tower.parameters()).device.type != "cpu":
            return TorchBackend().prepare(tower)
        return _Changing(tower, after=self.after, then=self.then)


class _Changing:
    """Torch, then another backend, for the whole of a call of ``encode_batches``."""

    def __init__(self, tower: Any, *, after: int, then: Backend | None):
        self._tower, self._after, self._then = tower, after, then
        self._torch = TorchBackend().prepare(tower)
        self._fast: EncodeBatch | None = None
        self._seen = 0

    def expect(self, n: int) -> None:
        """Args:
        n: sequences that are about to be encoded.
        """
        self._seen += n
        # converting takes each forked process as long as about 2,000 mentions with torch: keep to torch
        if self._fast is None and self._seen >= self._after and os.getpid() == _STARTED:
            then = self._then or _faster_backend()
            try:
                self._fast = self._torch if then is None else then.prepare(self._tower)
            except Exception as err:  # OpenVINO does not convert every model; a long run must not end here
                if self._then is not None:
                    raise
                logger.info("Encoding goes on with torch, as OpenVINO cannot read this model: %s", err)
                self._fast = self._torch

    @property
    def _encode(self) -> EncodeBatch:
        return self._torch if self._fast is None else self._fast

    @property
    def workers(self) -> int:
        """Threads that may call it at a time."""
        return int(getattr(self._encode, "workers", 1))

    def __call__(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Of each sequence of the batch."""
        return self._encode(ids, mask)


def _faster_backend() -> Backend | None:
    import torch

    half = native_bfloat16(torch.device("cpu"))
    if find_spec("openvino") is None or not (half or _is_amd()):
        return None
    from .openvino_backend import OpenVinoBackend

    return OpenVinoBackend(precision="bfloat16" if half else "float32")


def _is_amd() -> bool:
    info = Path("/proc/cpuinfo")
    return info.is_file() and "AuthenticAMD" in info.read_text(encoding="utf8", errors="replace")
