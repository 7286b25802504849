"""Saved folders: each with a manifest, written last and checked first; those of registered parts say which part. And
folders and files packed to bytes."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from zipfile import BadZipFile

from ..errors import Errors, PelError
from ..registry import registry
from .files import file_hash
from .parsing import DATA_ERRORS, read_json
from .writing import atomic_path, is_staging_dir, locked, one_at_a_time, write_json

MANIFEST = "manifest.json"
_PAUSE, _LOOKS = 0.02, 25  # seconds between looks at a folder that is not there, and how many
_HASHED = 1 << 28  # bytes of a folder whose files are read when it is opened: 0.2 s for the default pipeline
_READINGS = 100  # of a folder that is replaced each time it is read
T = TypeVar("T")


@contextmanager
def write_folder(path: Path, *, kind: str, version: int) -> Iterator[Path]:
    """Provide a temporary folder to fill; add the manifest and move it to ``path`` on success.

    A saved folder inside it counts by its own manifest.

    Args:
        path: the folder; what was there is replaced once everything is written.
        kind: what the folder holds, e.g. "knowledge base".
        version: of the format.

    Yields:
        An empty folder.

    Raises:
        PelError: if the folder cannot be written.
    """
    with atomic_path(path) as part:
        part.mkdir()
        yield part
        write_manifest(part, kind=kind, version=version)


@contextmanager
def update_folder(path: Path, *, kind: str, version: int, rewritten: Iterable[str] = ()) -> Iterator[Path]:
    """Change a saved folder, or write a new one: all changes take effect at once, or none.

    What is yielded has the files of the folder as hard links (copies where the file system has none), so
    a file must be replaced there, not changed in place. Two processes that change folders next to each other
    take turns, so that neither undoes what the other has done.

    Args:
        path: the folder; created if missing.
        kind, version: as for ``write_folder``.
        rewritten: files and folders that are going to be written; they are not linked.

    Yields:
        The folder to change.

    Raises:
        PelError: if the folder cannot be written.
    """
    path = path.resolve()
    with one_at_a_time(path), atomic_path(path) as part:

        def without(folder: str, names: list[str]) -> set[str]:
            replaced = {*rewritten, MANIFEST} if Path(folder) == path else set()
            return {name for name in names if name in replaced or is_staging_dir(name)}

        def link_files() -> None:
            shutil.rmtree(part, ignore_errors=True)
            if path.is_dir():
                shutil.copytree(path, part, copy_function=_link, ignore=without)
            else:
                part.mkdir()

        read_whole(path, link_files)
        yield part
        write_manifest(part, kind=kind, version=version)


def read_whole(path: Path, read: Callable[[], T]) -> T:
    """Read a folder that other processes may replace at the same time: never half of the old folder and half
    of the new one. What was replaced while it was read is read again.

    Args:
        path: the folder, which is replaced as a whole, as in ``write_folder``.
        read: reads it; may be called several times.

    Returns:
        What ``read`` returned.

    Raises:
        Exception: that of ``read``, for a folder that stayed in its place.
    """
    for number in range(_READINGS - 1):
        before = identity_of(path)
        try:
            result = read()
        except Exception:  # Arrow, FAISS and safetensors raise their own for half a folder
            if identity_of(path) == before and (before is not None or number >= _LOOKS):
                raise
            if before is None:  # another process is between its two renames, or there is none
                time.sleep(_PAUSE)
        else:
            if identity_of(path) == before:
                return result
    return read()


def identity_of(path: Path) -> tuple[int, int, int] | None:
    """Which folder or file it is; another one after a replacement or a change. None = there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns


def _link(source: str, target: str) -> None:
    try:
        os.link(os.path.realpath(source), target)  # a relative link would point elsewhere
    except OSError:
        shutil.copy2(source, target)


def write_manifest(path: Path, *, kind: str, version: int) -> None:
    """Write the manifest of a folder whose files are complete.

    path, kind, version: as for ``write_folder``.
    """
    files = {
        file.relative_to(path).as_posix(): {"size": file.stat().st_size, "sha256": file_hash(file)}
        for file in _files(path)
    }
    write_json(path / MANIFEST, {"kind": kind, "format": version, "files": files})


def check_folder(path: Path, *, kind: str, version: int) -> None:
    """Compare a folder with its manifest: kind, format version, the size of every file, and its hash, unless the folder
    has more than 256 MB: reading it all would take seconds. Its hashes are compared by ``verify_folders``.

    Args:
        path: the folder.
        kind: the expected kind.
        version: the expected version of the format.

    Raises:
        PelError: if the folder is missing, damaged, or another kind or version.
    """
    manifest = read_manifest(path, kind)
    if manifest["kind"] != kind:
        raise PelError(Errors.E007.format(kind=kind, path=path, got=f"one with a saved {manifest['kind']}"))
    if manifest["format"] != version:
        raise PelError(Errors.E005.format(kind=kind, path=path, expected=version, got=manifest["format"]))
    n_bytes = sum(entry["size"] for entry in manifest["files"].values())
    _check_files(path, manifest, with_hashes=n_bytes <= _HASHED)


def _check_files(path: Path, manifest: dict[str, Any], *, with_hashes: bool) -> None:
    kind = manifest["kind"]
    for name, entry in manifest["files"].items():
        if not os.path.isfile(file := path / name):  # pathlib's raises an OSError for a name that is too long
            raise damaged(path, kind, name, "no such file")
        if file.stat().st_size != entry["size"]:
            raise damaged(path, kind, f"{name} with {entry['size']} bytes", f"{file.stat().st_size} bytes")
        if with_hashes and file_hash(file) != entry["sha256"]:
            raise damaged(path, kind, f"{name} with the SHA-256 hash of the manifest", "other content")


def verify_folders(path: Path) -> list[dict[str, Any]]:
    """Read every file of the saved folders in a folder, and compare it with its manifest.

    Args:
        path: a saved folder, or a folder with some in it, such as a pipeline.

    Returns:
        Of each saved folder "folder", "kind", "files" and "bytes".

    Raises:
        PelError: if there is none, a file is missing or has other content, or a folder has a file that
            its manifest does not name.
    """
    with locked(path), one_at_a_time(path):  # a folder that is being replaced would be overlooked
        folders = sorted(Path(place) for place, *names in os.walk(path) if any(MANIFEST in some for some in names))
    found = [read_whole(one, lambda one=one: _verify(one)) for one in folders if not is_hidden(one, path)]  # type: ignore[misc]
    if not found:
        got = "none" if path.is_dir() else ("a file" if path.exists() else "no such folder")
        raise PelError(Errors.E007.format(kind="folder", path=path, got=got))
    return found


def _verify(folder: Path) -> dict[str, Any]:
    saved = read_manifest(folder, "saved folder")
    _check_files(folder, saved, with_hashes=True)
    for file in _files(folder):
        if (name := file.relative_to(folder).as_posix()) not in saved["files"]:
            raise damaged(folder, saved["kind"], "only the files of the manifest", name)
    sizes = [entry["size"] for entry in saved["files"].values()]
    return {"folder": str(folder), "kind": saved["kind"], "files": len(sizes), "bytes": sum(sizes)}


def damaged(path: Path | str, kind: str, expected: str, got: Any) -> PelError:
    """The error for a folder (or bytes) with wrong content."""
    return PelError(Errors.E004.format(kind=kind, path=path, expected=expected, got=got))


@contextmanager
def reading(path: Path, kind: str, expected: str = "readable files that belong together") -> Iterator[None]:
    """Around what reads the files of a folder.

    Raises:
        PelError: if they cannot be read, or do not fit together.
    """
    try:
        yield
    except PelError:
        raise
    # FAISS raises RuntimeErrors; a damaged length asks for too much memory
    except (*DATA_ERRORS, OSError, RuntimeError, BadZipFile, MemoryError) as err:
        raise damaged(path, kind, expected, (str(err) or type(err).__name__).strip().splitlines()[0]) from err


def read_manifest(path: Path, kind: str) -> dict[str, Any]:
    """The manifest of a folder: "kind", "format" and "files".

    Args:
        path: the folder.
        kind: what it should hold, for the error.

    Raises:
        PelError: if it is no folder with a manifest.
    """
    file = path / MANIFEST
    if not path.is_dir():
        raise PelError(Errors.E007.format(kind=kind, path=path, got="a file" if path.exists() else "no such folder"))
    if not file.is_file():
        raise damaged(path, kind, MANIFEST, "a folder without it (perhaps saved by an earlier version)")
    manifest = read_json(file)
    keys: tuple[tuple[str, type], ...] = (("kind", str), ("format", int), ("files", dict))
    good = isinstance(manifest, dict) and all(isinstance(manifest.get(key), of) for key, of in keys)
    if not good or not all(_is_entry(name, entry) for name, entry in manifest["files"].items()):
        raise damaged(path, kind, f"{MANIFEST} with kind, format, and size and SHA-256 of each file", "a malformed one")
    return manifest


def _files(path: Path) -> Iterator[Path]:
    """Files of a folder; a saved folder inside is represented by its manifest. Hidden files do not count:
    they are what an interrupted write or the system left."""
    for file in sorted(file for file in path.iterdir() if not file.name.startswith(".")):
        if file.is_file() and file.name != MANIFEST:
            yield file
        elif file.is_dir():
            yield from [file / MANIFEST] if (file / MANIFEST).is_file() else _files(file)


def is_hidden(file: Path, folder: Path) -> bool:
    """Whether a file of a folder, or a folder around it there, has a name that begins with a
    dot."""
    return any(part.startswith(".") for part in file.relative_to(folder).parts)


def _is_entry(name: str, entry: Any) -> bool:
    has_both = isinstance(entry, dict) and isinstance(entry.get("size"), int)
    return has_both and isinstance(entry.get("sha256"), str) and is_inside(name)


def is_inside(name: str) -> bool:
    """Whether the name of a file leads nowhere but into its folder."""
    parts = Path(name).parts
    return bool(parts) and not Path(name).anchor and ".." not in parts


_VERSION = 1
_REGISTRIES = {"encoder": "pel_encoders", "ranker": "pel_rankers", "generator": "pel_candidates"}


@contextmanager
def write_part(path: Path, *, kind: str, name: str, **more: Any) -> Iterator[Path]:
    """Provide a temporary folder to fill; add KIND.json and the manifest, and move it to ``path`` on success.

    Args:
        path: the folder; what was there is replaced once everything is written.
        kind: "encoder", "ranker" or "generator".
        name: the registered name of the part.
        more: JSON values to keep in KIND.json.

    Yields:
        A folder.

    Raises:
        PelError: if the folder cannot be written.
    """
    with write_folder(Path(path), kind=kind, version=_VERSION) as part:
        write_json(part / f"{kind}.json", {kind: name, **more})
        yield part


def add_to_part(path: Path, name: str, data: Any, *, kind: str) -> None:
    """Add a JSON file to a saved part.

    Args:
        path: its folder, which is being written (in ``atomic_path``): this takes more than one step.
        name: of the file.
        data: what to write.
        kind: as for ``write_part``.
    """
    write_json(path / name, data)
    write_manifest(path, kind=kind, version=_VERSION)


def read_part(path: Path, *, kind: str, name: str | None = None) -> dict[str, Any]:
    """Check a folder and read which part it holds.

    Args:
        path, kind: as for ``write_part``.
        name: the expected part; None = any that is registered.

    Returns:
        KIND.json; the part's registered name is under the key KIND.

    Raises:
        PelError: if the folder is missing, damaged, or another part's.
    """
    check_folder(path, kind=kind, version=_VERSION)
    saved = read_json(path / f"{kind}.json") if (path / f"{kind}.json").is_file() else None
    if not isinstance(saved, dict) or not isinstance(saved.get(kind), str):
        raise damaged(path, kind, f"{kind}.json with a registered name", "another file")
    if name is not None and saved[kind] != name:
        raise PelError(Errors.E010.format(kind=kind, path=path, expected=name, got=saved[kind]))
    table = _REGISTRIES[kind]
    if saved[kind] not in getattr(registry, table):
        raise PelError(Errors.E009.format(kind=kind, path=path, name=saved[kind], registry=table))
    return saved


LIMIT = 2 << 30  # msgpack, pickle and pipes to other processes fail above this
_ALIGN = 64  # Arrow and numpy map buffers without a copy where these begin at such an address
Buffer = bytes | memoryview


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
