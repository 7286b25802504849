"""Putting a written file or folder in the place of an old one, in one step."""

import ctypes
import os
import platform
import re
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_AT_FDCWD = -100  # paths are relative to the working directory
_PATIENCE = 60.0  # seconds to wait for a lock
_PAUSE = 0.01  # seconds between two tries
_EXCHANGE = 2  # the flag of renameat2 (Linux) and renamex_np (macOS)
# .NAME.PROCESS.HOST.RANDOM
_HOLDER = re.compile(r"\.(?P<name>.+)\.(?P<process>\d+)\.(?P<host>[0-9a-f]{8})\.[^.]+")

_seen: set[Path] = set()  # folders where this process has removed what others left


def _host() -> str:
    """A hash of where process numbers mean the same: the machine, and in a container its own
    numbers."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{zlib.crc32(f'{platform.node()} {space}'.encode()):08x}"


_HOST = _host()


def make_holder(target: Path) -> Path:
    """A new hidden folder next to the target, whose name says which process made it."""
    return Path(tempfile.mkdtemp(prefix=f".{target.name}.{os.getpid()}.{_HOST}.", dir=target.parent))


def without_holders(path: Path) -> Path:
    """Where a file in a holder will be, for errors."""
    return Path(*(part for part in path.parts if not _HOLDER.fullmatch(part)))


@contextmanager
def one_at_a_time(folder: Path) -> Iterator[None]:
    """Wait until nobody else is here for the same folder: no thread, and no process of this machine. A thread
    that is here already waits for itself.

    The lock is on the folder above, because the folder itself is replaced. It ends with the process, and
    leaves no file. On Windows, and on network file systems without such locks, nobody waits.

    Args:
        folder: what is going to be read, changed and replaced.

    Raises:
        PelError: if another one does not end within a minute.
    """
    above = _locked(folder.parent)
    try:
        yield
    finally:
        if above is not None:
            fcntl.flock(above, fcntl.LOCK_UN)  # a process that was forked meanwhile has it open, too
            os.close(above)


def _locked(folder: Path) -> int | None:
    """A descriptor of the folder, which is locked; None = it cannot be."""
    if fcntl is None:
        return None
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:  # it does not exist yet
        return None
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return opened
        except BlockingIOError as err:
            if time.monotonic() > end:
                os.close(opened)
                raise PelError(Errors.E014.format(path=folder, seconds=f"{_PATIENCE:.0f}")) from err
            time.sleep(_PAUSE)
        except OSError:  # the file system has no locks
            os.close(opened)
            return None


def remove_leftovers(parent: Path) -> None:
    """Remove the holders of killed processes of this machine, once in each process. If one was killed between
    the two steps of ``move_into_place``, the old folder is put back first.

    Args:
        parent: the folder where the holders are.
    """
    parent = parent.resolve()
    if parent in _seen or sys.platform == "win32":  # there a process cannot be asked whether it lives
        return
    _seen.add(parent)
    for holder in parent.glob(".*"):
        match = _HOLDER.fullmatch(holder.name)
        if match and match["host"] == _HOST and not _lives(int(match["process"])):
            with suppress(OSError):  # another user's, or another process removes it, too
                old = _old(holder, match["name"])
                if old.exists() and not (parent / match["name"]).exists():
                    os.replace(old, parent / match["name"])
            shutil.rmtree(holder, ignore_errors=True)


def is_holder(name: str) -> bool:
    """Whether a file of this name is a holder that a killed process left."""
    return _HOLDER.fullmatch(name) is not None


def _old(holder: Path, name: str) -> Path:
    return holder / f"{name}.old"


def move_into_place(part: Path, target: Path) -> None:
    """Replace the target. A folder is exchanged for the old one, where system and file system can do that.
    Elsewhere the old one is moved aside first: a process that is killed right then leaves it in its holder.

    Args:
        part: a file or folder in a holder; in the end perhaps the old folder.
        target: may exist.

    Raises:
        OSError: if it cannot be replaced; it is left as it was.
    """
    if not (part.is_dir() and target.is_dir()) or target.is_symlink():
        os.replace(part, target)
        return
    if _exchange(part, target):
        return
    old = _old(part.parent, target.name)
    os.replace(target, old)
    try:
        os.replace(part, target)
    except OSError:
        os.replace(old, target)
        raise


def _exchange(one: Path, other: Path) -> bool:
    """Whether the two paths were exchanged; False = not possible here."""
    try:
        system: Any = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(system.renamex_np(os.fsencode(one), os.fsencode(other), _EXCHANGE) == 0)
        paths = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
        return bool(system.renameat2(*paths, _EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):  # no such function; on Windows, no such library
        return False


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
