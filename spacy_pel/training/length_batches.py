"""Batches of sequences of similar length: little padding, but a random order."""

import numpy as np
from numpy.typing import NDArray

_POOL = 50  # batches whose members are sorted by length together


def length_batches(order: NDArray[np.int64], lengths: NDArray[np.int64], batch_size: int) -> list[NDArray[np.int64]]:
    """Cut an order into batches, sorted by length within pools of batches.

    Args:
        order: numbers of sequences, shuffled.
        lengths: of all sequences, by number.
        batch_size: the last batch of a pool may be smaller.

    Returns:
        The batches, ascending in length within a pool; shuffle them too.
    """
    batches: list[NDArray[np.int64]] = []
    for start in range(0, len(order), batch_size * _POOL):
        pool = order[start : start + batch_size * _POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
    return batches
