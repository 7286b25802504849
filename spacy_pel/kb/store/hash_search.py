"""Finding strings in a table that is sorted by their 64-bit hashes."""

from typing import Callable, List, Sequence

import numpy as np
from numpy.typing import NDArray

from ...util import hash_strings

Rows = NDArray[np.int64]


def find_strings(
    queries: Sequence[str], hashes: NDArray[np.uint64], strings_at: Callable[[Rows], List[str]]
) -> Rows:
    """Where are these strings in the table?

    Hashes may collide, so the real string at each hit is compared with the query.

    queries (Sequence[str]): what to look for.
    hashes (NDArray[uint64]): the table's hashes, ascending.
    strings_at (Callable): gives the table's strings at positions.
    RETURNS (NDArray[int64]): a position per query, -1 where the table lacks it.
    """
    found = np.full(len(queries), -1, dtype=np.int64)
    wanted = hash_strings(queries)
    position = np.searchsorted(hashes, wanted, side="left")
    stop = np.searchsorted(hashes, wanted, side="right")
    pending = np.flatnonzero(position < stop)
    while len(pending):  # a second round only where two strings share a hash
        strings = strings_at(position[pending])
        right = np.array([queries[i] == text for i, text in zip(pending, strings, strict=True)], dtype=bool)
        found[pending[right]] = position[pending[right]]
        pending = pending[~right]
        position[pending] += 1
        pending = pending[position[pending] < stop[pending]]
    return found
