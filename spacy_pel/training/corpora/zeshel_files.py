"""The files of ZESHEL: pages in ``documents/<world>.json``, mentions in ``mentions/<split>.json``."""

from collections.abc import Iterable, Iterator
from pathlib import Path


def json_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files, and for a folder the .json and .json.gz files in it, by name."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if world_of(file) != file.name)
        else:
            yield path


def world_of(path: Path) -> str:
    """The world whose pages a file holds, e.g. "starwars" for starwars.json.gz."""
    return path.name.removesuffix(".gz").removesuffix(".json")
