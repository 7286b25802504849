"""Opening a text file to write."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ...util import atomic_path


@contextmanager
def text_file(path: Path) -> Iterator[IO[str]]:
    r"""Write a UTF-8 file with line ends \n, atomically; gzipped if the name ends in .gz.

    Args:
        path: the file.

    Yields:
        The open file.

    Raises:
        PelError: if it cannot be written.
    """
    with atomic_path(path) as part:
        file = (
            gzip.open(part, "wt", encoding="utf8", newline="\n")
            if part.suffix == ".gz"
            else part.open("w", encoding="utf8", newline="\n")
        )
        with file:
            yield file
