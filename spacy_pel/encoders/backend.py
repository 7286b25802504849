"""Running a tower on NumPy arrays: the interface of backends, torch, its precision, and batches by length."""

import ctypes
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from tempfile import TemporaryFile
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from ..registry import registry
from ..types import Rows, Vectors
from ..util import progress
from ..util.processes import make_fork_safe
from .bert import Bert
from .token_arrays import RaggedTokens

CPU = torch.device("cpu")
_LEAST = 32  # positions in a batch: products of fewer rows are summed in another order
_IN_MEMORY = 1 << 30  # bytes; larger arrays of vectors are files
_EVERY = 2.0  # CPU seconds; to return the pages and to get them again takes 0.03
_returned = 0.0

make_fork_safe()

# (ids, mask), both (batch, length) -> (batch, width)
EncodeBatch = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float32]]
Precision = Literal["float32", "bfloat16"]
EncodedBatch = tuple[Rows, NDArray[np.int64], NDArray[np.float32]]


@runtime_checkable
class Backend(Protocol):
    """Turns a tower (a torch module: ids, mask -> vectors) into a function on numpy arrays."""

    def prepare(self, tower: Any) -> EncodeBatch: ...


@registry.pel_backends("spacy-pel.TorchBackend.v1")
class TorchBackend:
    """Runs a tower under ``torch.inference_mode``, on the CPU or a GPU.

    Args:
        precision: "bfloat16" is 2.7 times as fast where the processor multiplies it natively, and slower elsewhere;
            its vectors have a cosine of 0.99998 to those of "float32". None = see ``chosen_precision``.
    """

    def __init__(self, *, precision: Precision | None = None):
        self.precision = precision

    def prepare(self, tower: Any) -> EncodeBatch:
        """Bind a tower.

        Args:
            tower: ids and mask (batch, length) -> vectors (batch, width).

        Returns:
            The same on numpy arrays.
        """
        device = next(tower.parameters()).device
        half = (self.precision or chosen_precision(device)) == "bfloat16"

        def encode(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
            tower.eval()
            with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=half):
                vectors = tower(torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device))
            return vectors.float().cpu().numpy()

        encode.packs = any(isinstance(part, Bert) for part in tower.modules())  # type: ignore[attr-defined]
        return encode


def chosen_precision(device: torch.device) -> Precision:
    """The precision of a device, where none is set: float32 on a processor, as it gives the same vectors in any batch
    and with any number of threads; bfloat16 on a GPU that has units for it."""
    return "bfloat16" if device.type == "cuda" and native_bfloat16(device) else "float32"


def native_bfloat16(device: torch.device) -> bool:
    """Whether a device multiplies bfloat16 natively; elsewhere it is slower."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    return device.type == "cpu" and bool(getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)())


def encode_batches(
    encode: EncodeBatch,
    tokens: RaggedTokens,
    *,
    batch_size: int,
    pad_id: int,
    description: str = "Encoding",
    show_progress: bool = False,
) -> Iterator[EncodedBatch]:
    """Run sequences in batches of similar length, the longest first, so that memory peaks at once. A sequence gets the
    same numbers whatever stands beside it: nothing is padded that would be read, see ``Bert.forward``.

    Args:
        encode: what a backend prepared: ids and mask (batch, length) -> one row of numbers for each
            sequence. If it has a number ``workers``, it is called from this many threads at a time. Unless its
            ``packs`` is true, all sequences of a batch have one length.
        tokens: n sequences.
        batch_size: sequences in a batch at most; fewer if some workers had none.
        pad_id: pads short sequences.

    Yields:
        Rows of a batch's sequences, their mask, and what ``encode`` gave, in an order
        that does not depend on the number of workers.
    """

    def encode_rows(rows: Rows) -> EncodedBatch:
        n = len(rows)
        ids, mask = tokens.padded(np.resize(rows, max(n, _LEAST // max(1, lengths[rows[0]]) + 1)), pad_id)
        return rows, mask[:n], encode(ids, mask)[:n]

    lengths = np.diff(tokens.offsets)
    workers = int(getattr(encode, "workers", 1))
    batch_size = max(1, min(batch_size, -(-len(lengths) // workers)))
    order = np.argsort(-lengths, kind="stable")
    changes: Any = [] if getattr(encode, "packs", False) else np.flatnonzero(np.diff(lengths[order])) + 1
    runs = np.split(order, changes)
    batches = [run[start : start + batch_size] for run in runs for start in range(0, len(run), batch_size)]
    workers = min(workers, len(batches))
    # a single worker runs in this thread, since torch sets up its thread pool again in each new one
    with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        done: Iterable[EncodedBatch] = pool.map(encode_rows, batches) if pool else map(encode_rows, batches)
        if show_progress:
            done = progress(done, description=description, total=len(batches))
        yield from done
    return_free_memory()


def return_free_memory() -> None:
    """Give the free pages of the heap back to the system, where glibc is used; call it after what takes the most. They
    lie between what stays, so glibc keeps them; settings of ``malloc`` that avoid this take a tenth more time."""
    global _returned
    if sys.platform == "linux" and abs(time.process_time() - _returned) >= _EVERY:  # a forked process counts from 0
        getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)(0)
        _returned = time.process_time()


def empty_vectors(n: int, width: int) -> Vectors:
    """(n, width) to fill in; in a temporary file if they are larger than 1 GiB."""
    if 4 * n * width <= _IN_MEMORY:
        return np.empty((n, width), dtype=np.float32)
    with TemporaryFile() as file:  # the mapping keeps the file, which has no name, until it is dropped
        return np.memmap(file, dtype=np.float32, mode="w+", shape=(n, width))
