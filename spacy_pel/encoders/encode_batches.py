"""Encoding many sequences: batches of like length, as many at a time as the backend computes at once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Iterator, Tuple

import numpy as np
from numpy.typing import NDArray

from ..templates import RaggedTokens
from ..types import Rows
from ..util import progress
from .backend import EncodeBatch

Encoded = Tuple[Rows, NDArray[np.int64], NDArray[np.float32]]


def encode_batches(
    encode: EncodeBatch,
    tokens: RaggedTokens,
    *,
    batch_size: int,
    pad_id: int,
    description: str = "Encoding",
    show_progress: bool = False,
) -> Iterator[Encoded]:
    """Run sequences through what a backend prepared.

    encode (EncodeBatch): ids and mask (batch, length) -> one row of numbers for each sequence. If it has a
        number ``workers``, so many batches are handed to it at a time, each from a thread of its own.
    tokens (RaggedTokens): n sequences.
    batch_size (int): sequences in a batch.
    pad_id (int): fills short sequences up.
    YIELDS (tuple): places of a batch's sequences, their mask, and what ``encode`` gave; always in the
        same order, and each the same however many workers there are.
    """

    def one(rows: Rows) -> Encoded:
        ids, mask = tokens.padded(rows, pad_id)
        return rows, mask, encode(ids, mask)

    batches = list(tokens.batches_by_length(batch_size))
    workers = min(int(getattr(encode, "workers", 1)), len(batches))
    # one worker is no thread: torch counts its threads anew in each
    with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        done = pool.map(one, batches) if pool else map(one, batches)
        yield from progress(done, description=description, total=len(batches), show=show_progress)
