"""Hashes of files. Those of large files are remembered: a file is read again only once it has changed."""

import os
import sys
import tempfile
import time
from hashlib import sha256
from pathlib import Path

_MOST = 2000  # lines of the list before old ones are dropped
_RECENT = 2.0  # seconds in which a file may change without a new time stamp
_hashes: dict[str, str] = {}


def file_hash(file: Path) -> str:
    """The SHA-256 of a file's content."""
    digest = sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def remembered_hash(file: Path) -> str:
    """The hash of a file as it was when it was last read, if its inode, size and time stamp are still the
    same; else it is read. What was read is remembered in this process, and in a list in the user's cache
    folder (``$XDG_CACHE_HOME/spacy_pel``, or ``~/.cache/spacy_pel``), except of temporary files. Where that
    cannot be written, each process reads each file once.

    Args:
        file: any file.

    Returns:
        Its SHA-256.
    """
    status = file.stat()
    key = f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}"
    if not _hashes:
        _read_list()
    if key not in _hashes:
        content = file_hash(file)
        if time.time() - status.st_mtime < _RECENT:
            return content
        _hashes[key] = content
        try:
            if not file.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve()):
                _append(f"{key} {content}\n")
        except (OSError, RuntimeError):  # nothing is writable, or a user without a home
            pass
    return _hashes[key]


def _list() -> Path:
    base = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else os.environ.get("XDG_CACHE_HOME")
    return Path(base or Path.home() / ".cache") / "spacy_pel" / "verified_files.txt"


def _read_list() -> None:
    try:
        lines = _list().read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError, RuntimeError):
        return
    pairs = (line.split(" ") for line in lines)
    _hashes.update({pair[0]: pair[1] for pair in pairs if len(pair) == 2 and len(pair[1]) == 64})


def _append(line: str) -> None:
    path = _list()
    path.parent.mkdir(parents=True, exist_ok=True)
    if len(_hashes) <= _MOST:
        with path.open("a", encoding="ascii") as file:
            file.write(line)
        return
    newest = list(_hashes.items())[-_MOST // 2 :]
    _hashes.clear()
    _hashes.update(newest)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text("".join(f"{key} {content}\n" for key, content in newest), encoding="ascii")
    os.replace(part, path)
