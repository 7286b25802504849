"""Fingerprints that identify the content something was built from.

Written by hand, on hashlib: they are stored in files and compared across machines and versions, so they
must not depend on pickling or on ``hash()``, which differs between runs.
"""

import hashlib
import json
from pathlib import Path
from typing import Any


def fingerprint(*parts: str | bytes | Path | Any) -> str:
    """A short, stable hash of contents.

    *parts: text, bytes, the path of a file (its content counts, not its name), or
        anything that JSON can hold.

    Returns:
        32 hexadecimal digits (BLAKE2b, 128 bits).
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, Path):
            with part.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        elif isinstance(part, bytes):
            digest.update(part)
        elif isinstance(part, str):
            digest.update(part.encode("utf8"))
        else:
            digest.update(json.dumps(part, sort_keys=True).encode("utf8"))
        digest.update(b"\x1e")
    return digest.hexdigest()
