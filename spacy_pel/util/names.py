"""Names as look-up keys: one normal form, and 64-bit hashes that are the same on every machine."""

import re
import unicodedata
from hashlib import blake2b
from typing import Sequence

import numpy as np
from numpy.typing import NDArray

_NOT_WORD = re.compile(r"[\W_]+")
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)).ljust(256)


def normalize_alias(text: str) -> str:
    """Normalise a name: NFKC, case-folded, runs of punctuation and white space become one blank.

    A name made only of punctuation keeps its symbols, so that it does not become empty.

    text (str): a mention or an alias.
    RETURNS (str): e.g. "Fibroblast growth factor-1" -> "fibroblast growth factor 1".
    """
    if text.isascii():  # the same in a third of the time
        return " ".join(text.encode("ascii").translate(_ASCII).decode("ascii").split()) or text.strip()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _NOT_WORD.sub(" ", folded).strip() or folded.strip()


def hash_strings(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hash strings for look-up tables. Two strings may share a hash: compare them too.

    texts (Sequence[str]): any strings that UTF-8 can hold.
    RETURNS (NDArray[uint64]): one hash per string (BLAKE2b, 64 bits).
    """
    # a lone surrogate in a query is not an error: it matches nothing
    digests = [blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False)
