"""Running a tower on NumPy arrays: the backend interface, torch, the choice of a faster backend for long runs, and
batches of similar length."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from ..registry import registry
from ..types import Rows, Vectors
from ..util import logger, progress
from ..util.console import report_parts
from ..util.processes import make_fork_safe
from .templates import RaggedTokens

_IN_MEMORY = 1 << 30  # bytes; larger arrays of vectors are files
_STARTED = os.getpid()  # another one = a forked child

make_fork_safe()

# (ids, mask), both (batch, length) -> (batch, width)
EncodeBatch = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
EncodedBatch = tuple[Rows, NDArray[np.int64], NDArray[np.float32]]


@runtime_checkable
class Backend(Protocol):
    """Turns a tower (a torch module: ids, mask -> vectors) into a function on numpy arrays."""

    def prepare(self, tower: Any) -> EncodeBatch: ...


@registry.pel_backends("spacy-pel.TorchBackend.v1")
class TorchBackend:
    """Runs a tower under ``torch.inference_mode``, on the CPU or a GPU, with autocast where it is faster.

    Args:
        precision: "auto" = bfloat16 where the processor multiplies it natively (2.7 times
            as fast, cosine to float32 0.99998), else float32.
    """

    def __init__(self, *, precision: Literal["auto", "float32", "bfloat16"] = "auto"):
        self.precision = precision

    def prepare(self, tower: Any) -> EncodeBatch:
        """Bind a tower.

        Args:
            tower: ids and mask (batch, length) -> vectors (batch, width).

        Returns:
            The same on numpy arrays.
        """
        device = next(tower.parameters()).device
        half = self.precision == "bfloat16" or (self.precision == "auto" and native_bfloat16(device))

        def encode(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
            tower.eval()
            with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=half):
                vectors = tower(torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device))
            return vectors.float().cpu().numpy()

        return encode


@registry.pel_backends("spacy-pel.AutoBackend.v1")
class AutoBackend:
    """Begins with torch, which is ready at once, and changes to a faster backend before the call that brings
    the number of word pieces to ``after``. On a GPU, or where no backend is faster, it stays with torch.

    OpenVINO is 1.6 times as fast as torch in bfloat16, and 2.3 times in float32 on AMD's
    processors; on Intel's they are equal in float32 (batches of 8 and more). Converting MiniLM takes 2 to 5
    seconds and 180 MB, about as long as torch takes for 50,000 word pieces: 140 abstracts, or
    1,400 mentions.

    Args:
        after: word pieces that a tower encodes with torch before it is converted.
        then: the faster backend; None = OpenVINO if it is installed and faster on this
            processor, in bfloat16 where the processor has it, else float32.
    """

    def __init__(self, *, after: int = 50_000, then: Backend | None = None):
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
        return _SwitchingBackend(tower, after=self.after, then=self.then)


class _SwitchingBackend:
    """Torch, then another backend, for the whole of a call of ``encode_batches``."""

    def __init__(self, tower: Any, *, after: int, then: Backend | None):
        self._tower, self._after, self._then = tower, after, then
        self._torch = self._encode = TorchBackend().prepare(tower)
        self._chosen = False
        self._seen = 0

    def expect(self, n: int) -> None:
        """Args:
        n: word pieces that are about to be encoded.
        """
        self._seen += n
        # converting takes each forked process as long as many mentions with torch: keep to torch
        if self._chosen or self._seen < self._after or os.getpid() != _STARTED:
            return
        self._chosen = True
        then = self._then or _faster_backend()
        try:
            self._encode = self._torch if then is None else then.prepare(self._tower)
        except Exception as err:  # OpenVINO does not convert every model; a long run must not end here
            if self._then is not None:
                raise
            logger.info("Encoding continues with torch, as OpenVINO cannot read this model: %s", err)

    @property
    def workers(self) -> int:
        """Threads that may call it at a time."""
        return int(getattr(self._encode, "workers", 1))

    def __call__(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Of each sequence of the batch."""
        return self._encode(ids, mask)


def _faster_backend() -> Backend | None:
    cpu = Path("/proc/cpuinfo")
    is_amd = cpu.is_file() and "AuthenticAMD" in cpu.read_text(encoding="utf8", errors="replace")
    half = native_bfloat16(torch.device("cpu"))
    if find_spec("openvino") is None or not (half or is_amd):
        return None
    from .openvino_backend import OpenVinoBackend

    return OpenVinoBackend(precision="bfloat16" if half else "float32")


def encode_batches(
    encode: EncodeBatch,
    tokens: RaggedTokens,
    *,
    batch_size: int,
    pad_id: int,
    description: str = "Encoding",
    show_progress: bool = False,
) -> Iterator[EncodedBatch]:
    """Run sequences in batches of similar length, the longest first, so that memory peaks at once.

    Args:
        encode: what a backend prepared: ids and mask (batch, length) -> one row of numbers for each
            sequence. If it has a number ``workers``, it is called from this many threads at a time. If it has
            a method ``expect``, it is first given the number of word pieces.
        tokens: n sequences.
        batch_size: sequences in a batch at most; fewer if some workers had none.
        pad_id: pads short sequences.

    Yields:
        Rows of a batch's sequences, their mask, and what ``encode`` gave, in an order
        that does not depend on the number of workers.
    """

    def encode_rows(rows: Rows) -> EncodedBatch:
        ids, mask = tokens.padded(rows, pad_id)
        return rows, mask, encode(ids, mask)

    expect = getattr(encode, "expect", None)
    lengths = tokens.lengths
    if expect is not None:
        expect(int(lengths.sum()))
    workers = int(getattr(encode, "workers", 1))
    batch_size = max(1, min(batch_size, -(-len(lengths) // workers)))
    order = np.argsort(-lengths, kind="stable")
    batches = [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    workers = min(workers, len(batches))
    # a single worker runs in this thread, since torch sets up its thread pool again in each new one
    with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        done: Iterable[EncodedBatch] = pool.map(encode_rows, batches) if pool else map(encode_rows, batches)
        # the longest of a batch comes first; the others are padded to it
        costs = [len(rows) * float(lengths[rows[0]]) for rows in batches]
        done = report_parts(done, costs)
        if show_progress:
            done = progress(done, description=description, total=len(batches))
        yield from done


def empty_vectors(n: int, width: int) -> Vectors:
    """(n, width) to fill in; in a temporary file if they are larger than 1 GiB."""
    if 4 * n * width <= _IN_MEMORY:
        return np.empty((n, width), dtype=np.float32)
    with TemporaryFile() as file:  # the mapping keeps the file, which has no name, until it is dropped
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(n, width))


def native_bfloat16(device: Any) -> bool:
    """Whether a torch device multiplies bfloat16 natively; elsewhere it is slower."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and bool(getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)())
