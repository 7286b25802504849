"""Objects that are saved as folders, as bytes."""

import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, TypeVar

from ..errors import Errors, PelError

T = TypeVar("T")

# msgpack has no room for 4 GiB, and a copy or two are made on the way
_LIMIT = 2 * 1024**3


def folder_to_bytes(save: Callable[[Path], Any], *, name: str) -> Dict[str, bytes]:
    """Save an object to a temporary folder and read the files.

    save (Callable): writes the object to the path of a folder.
    name (str): the component's name, for the error.
    RETURNS (Dict[str, bytes]): relative path -> content.
    RAISES (PelError): if the files are larger than 2 GiB in all.
    """
    with tempfile.TemporaryDirectory(prefix="spacy_pel_") as holder:
        folder = Path(holder) / "data"
        save(folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        check_size(sum(path.stat().st_size for path in files), name=name)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def folder_from_bytes(files: Dict[str, bytes], load: Callable[[Path], T]) -> T:
    """Write files to a temporary folder and load an object from it.

    files (Dict[str, bytes]): relative path -> content.
    load (Callable): reads the object from the path of a folder. Files that it keeps
        memory-mapped stay readable after the folder's end, as the system keeps mapped files.
    RETURNS (T): the object.
    """
    # Windows cannot delete mapped files: there the folder is left to the system's cleaning
    with tempfile.TemporaryDirectory(prefix="spacy_pel_", ignore_cleanup_errors=True) as holder:
        for name, content in files.items():
            path = Path(holder) / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return load(Path(holder) / "data")


def check_size(size: int, *, name: str) -> None:
    """RAISES (PelError): if so many bytes cannot be handed over as one value."""
    if size > _LIMIT:
        gib = 1024**3
        raise PelError(Errors.E505.format(name=name, size=round(size / gib, 1), limit=_LIMIT // gib))
