"""64-bit hashes of strings, the same on every machine and in every process."""

from hashlib import blake2b
from typing import Sequence

import numpy as np
from numpy.typing import NDArray


def hash_strings(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hash strings for look-up tables. Two strings may share a hash: compare them too.

    texts (Sequence[str]): any strings that UTF-8 can hold.
    RETURNS (NDArray[uint64]): one hash per string (BLAKE2b, 64 bits).
    """
    # a lone surrogate in a query is no error here: it merely matches nothing
    digests = [blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False)
