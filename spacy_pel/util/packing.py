"""Files and folders packed to bytes."""

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from ..errors import Errors, PelError
from .saved_folder import is_inside

LIMIT = 2 << 30  # msgpack, pickle and pipes to other processes fail above this
_ALIGN = 64  # Arrow and numpy map buffers without a copy where these begin at such an address
Buffer = bytes | memoryview
T = TypeVar("T")


def pack_files(files: Mapping[str, Any], *, kind: str) -> bytes:
    """Pack files, given by names and contents (anything with the buffer protocol), to bytes: a line of JSON with
    names and sizes, then the contents, aligned. Saved pipelines hold such bytes, too: those of a transformer.

    Raises:
        PelError: if they are more than 2 GiB.
    """
    views = {name: memoryview(content).cast("B") for name, content in files.items()}
    total = sum(len(view) for view in views.values())
    if total > LIMIT:
        raise PelError(Errors.E006.format(kind=kind, size=f"{total / (1 << 30):.1f}", limit=LIMIT >> 30))
    head = json.dumps({name: len(view) for name, view in views.items()}).encode("utf8") + b"\n"
    pieces: list[bytes | memoryview] = [head]
    position = len(head)
    for view in views.values():
        pieces += [b"\0" * (-position % _ALIGN), view]
        position += -position % _ALIGN + len(view)
    return b"".join(pieces)


def unpack_files(data: Buffer, *, kind: str) -> dict[str, memoryview]:
    """The contents by name, without a copy.

    Raises:
        PelError: if these are not bytes of ``pack_files``.
    """
    view = memoryview(data)
    start = bytes(view[: min(len(view), 1 << 20)]).find(b"\n") + 1
    try:
        sizes = {str(name): int(size) for name, size in json.loads(bytes(view[:start])).items()}
    except (ValueError, AttributeError, TypeError, OverflowError) as err:
        raise PelError(Errors.E008.format(kind=kind, got="other bytes")) from err
    files, position = {}, start
    for name, size in sizes.items():
        position += -position % _ALIGN
        if size < 0 or position + size > len(view) or not is_inside(name):
            raise PelError(Errors.E008.format(kind=kind, got=f"not all bytes of {name}"))
        files[name] = view[position : position + size]
        position += size
    if position != len(view):
        raise PelError(Errors.E008.format(kind=kind, got=f"{len(view) - position} bytes more"))
    return files


def save_to_bytes(save: Callable[[Path], Any], *, kind: str) -> bytes:
    """Save an object to bytes, given a function that saves it to a folder.

    Args:
        save: writes the object to the path of a folder.
        kind: what it is, for the error.

    Returns:
        The folder.

    Raises:
        PelError: if they are more than 2 GiB.
    """
    with tempfile.TemporaryDirectory(prefix="spacy_pel_") as staging:
        path = Path(staging) / "data"
        save(path)
        files = {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
        return pack_files(dict(sorted(files.items())), kind=kind)


def load_from_bytes(data: Buffer, load: Callable[[Path], T], *, kind: str) -> T:
    """Load an object from the bytes that ``save_to_bytes`` returned.

    Args:
        data: the bytes.
        load: reads the object from the path of a folder, which is deleted afterwards; files that the
            object keeps memory-mapped stay readable.
        kind: what it is, for the error.

    Returns:
        The object.

    Raises:
        PelError: if these are not such bytes.
    """
    # Windows cannot delete mapped files: there the folder is left for the system to clean up
    with tempfile.TemporaryDirectory(prefix="spacy_pel_", ignore_cleanup_errors=True) as staging:
        path = Path(staging) / "data"
        for name, content in unpack_files(data, kind=kind).items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content)
        return load(path)
