"""What is compared: a file, our reader of it and an independent parser."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

Counts = dict[str, int]


class Read(NamedTuple):
    """What our reader gives: its counts, and its report, which explains what it left out."""

    counts: Counts
    report: Counts


class Entry(NamedTuple):
    """One file or, for formats of several files, one group; paths are relative to the data folder or to
    ``tests/fixtures``."""

    paths: tuple[str, ...]
    format: str
    ours: Callable[[list[Path]], Read]
    theirs: Callable[[list[Path]], Counts]
    note: str = ""  # why the counts differ, where the report does not say it


def opened(path: Path) -> IO[str]:
    """A text file, plain or gzipped."""
    return gzip.open(path, "rt", encoding="utf8") if path.suffix == ".gz" else path.open(encoding="utf8")
