"""Writing a file or folder beside its place, and putting it in the place of the old one when it is whole."""

import gzip
import json
import os
import platform
import re
import shutil
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ..errors import Errors, PelError
from .files import PathLike, unexpected

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
_PATIENCE = 60.0  # seconds to wait for a lock
_PAUSE = 0.01  # seconds between two tries
_MOMENT = 0.5  # seconds that a folder may be away while it is replaced
# .NAME.PROCESS.HOST.RANDOM
_STAGING_DIR = re.compile(r"\.(?P<name>.+)\.(?P<process>\d+)\.(?P<host>[0-9a-f]{8})\.[^.]+")
_cleaned: set[Path] = set()  # folders where this process has removed what killed processes left


def _host() -> str:
    """A hash of where process numbers mean the same: the machine, and in a container its own numbers."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{zlib.crc32(f'{platform.node()} {space}'.encode()):08x}"


_HOST = _host()
_held = threading.local()  # "paths" whose lock this thread has


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Give a temporary path next to the target; rename it to the target on success.

    Works for files and folders. On any error the temporary output is removed and the target is left as it
    was. A process that is killed leaves the old or the new target, whole, and perhaps a hidden staging folder
    beside it, which the next process that writes there removes.

    Args:
        target: the path of the output.

    Yields:
        A path that does not exist yet, on the same file system.

    Raises:
        PelError: if the file system refuses the output (full disk, no permission).
    """
    target = Path(target)
    with output_errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        # its name says which process made it
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}.{os.getpid()}.{_HOST}.", dir=target.parent))
    try:
        part = staging / target.name
        yield part
        _move_into_place(part, target)
    except OSError as err:
        if err.filename is not None and not str(err.filename).startswith(str(staging)):
            raise  # an input's error, not the output's
        raise _unwritable(target, err) from err
    except Exception as err:
        if "(os error " in str(err) and not isinstance(err, PelError):  # of safetensors and tokenizers
            raise _unwritable(target, err) from err
        raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def output_errors(target: PathLike) -> Iterator[None]:
    """Errors of the file system are about this output, a path or a URI. RAISES (PelError): instead of OSError."""
    try:
        yield
    except OSError as err:
        raise _unwritable(target, err) from err


def _unwritable(target: PathLike, err: Exception) -> PelError:
    path = os.sep.join(part for part in str(target).split(os.sep) if not is_staging_dir(part))
    got = f"an OS error ({getattr(err, 'strerror', None) or err})"
    todo = "Nothing was changed there. Free some space, or choose another folder."
    return unexpected(path, "a writable path", got, todo)


def is_staging_dir(name: str) -> bool:
    """Whether this is the name of a staging folder, which a killed process may have left."""
    return _STAGING_DIR.fullmatch(name) is not None


def remove_leftovers(parent: Path) -> None:
    """Remove the staging folders of killed processes of this machine, once in each process. If one was killed
    between the two steps of replacing a folder, the old folder is put back first.

    Args:
        parent: where the staging folders are.
    """
    parent = parent.resolve()
    if parent in _cleaned or sys.platform == "win32":  # there a process cannot be asked whether it lives
        return
    _cleaned.add(parent)
    for staging in parent.glob(".*"):
        match = _STAGING_DIR.fullmatch(staging.name)
        if match and match["host"] == _HOST and not _is_running(int(match["process"])):
            with suppress(OSError):  # another user's, or another process removes it, too
                old = staging / f"{match['name']}.old"
                if old.exists() and not (parent / match["name"]).exists():
                    os.replace(old, parent / match["name"])
            shutil.rmtree(staging, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (OSError, OverflowError) as err:
        return not isinstance(err, ProcessLookupError)
    return True


def _move_into_place(part: Path, target: Path) -> None:
    """Replace the target. An old folder is moved aside first: a process that is killed right then leaves it in its
    staging folder, see ``remove_leftovers``.

    Args:
        part: a file or folder in a staging folder.
        target: may exist.

    Raises:
        OSError: if it cannot be replaced; it is left as it was.
    """
    if not (part.is_dir() and target.is_dir()) or target.is_symlink():
        os.replace(part, target)
        return
    old = part.with_name(f"{target.name}.old")
    with ExitStack() as lock:  # else another process may find no folder between the two steps
        with suppress(PelError):  # whoever has it for a minute is not between them
            lock.enter_context(one_at_a_time(target))
        os.replace(target, old)
        try:
            os.replace(part, target)
        except OSError:
            os.replace(old, target)
            raise


def one_at_a_time(folder: Path) -> AbstractContextManager[None]:
    """Wait until nobody else is here for the same folder: no other thread, and no process of this machine.

    The lock is on the folder above, because the folder itself is replaced.

    Args:
        folder: what is going to be read, changed and replaced.

    Raises:
        PelError: if another one does not end within a minute.
    """
    return locked(folder.resolve().parent)


@contextmanager
def locked(path: Path, *, patience: float | None = None) -> Iterator[None]:
    """Have a file or folder to oneself: no other thread, and no process of this machine, is here for it.

    The lock ends with the process and leaves no file. If the path is replaced meanwhile, whoever waits goes on
    waiting for what is there now. On Windows, on network file systems without such locks, and for a path that does
    not exist yet, nobody waits.

    Args:
        path: what is locked.
        patience: seconds to wait for others; None = a minute.

    Raises:
        PelError: if others still have it then.
    """
    held = _held.__dict__.setdefault("paths", set())
    path = path.resolve()
    if path in held:
        yield
        return
    lock = _lock(path, _PATIENCE if patience is None else patience)
    held.add(path)
    try:
        yield
    finally:
        held.discard(path)
        if lock is not None:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a process that was forked meanwhile has it open, too
            os.close(lock)


def _lock(path: Path, patience: float) -> int | None:
    """The descriptor of a locked file or folder; None = it cannot be locked."""
    if fcntl is None:
        return None
    began = time.monotonic()
    while True:
        with ExitStack() as opened:
            try:
                descriptor = os.open(path, os.O_RDONLY)
                opened.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # else it was replaced
                    opened.pop_all()
                    return descriptor
            except BlockingIOError:  # another one has it
                pass
            except FileNotFoundError:  # another one is replacing it right now, or it does not exist yet
                if time.monotonic() > began + _MOMENT:
                    return None
            except OSError:  # it may not be opened, or the file system has no locks
                return None
        if time.monotonic() > began + patience:
            raise PelError(Errors.E014.format(path=path, seconds=f"{patience:.0f}"))
        time.sleep(_PAUSE)


def write_json(path: PathLike, data: Any, *, indent: int | None = 2) -> None:
    """Write JSON, atomically.

    Args:
        indent: blanks for each level; None = all in one line, for long lists of numbers.
    """
    with atomic_path(path) as part:
        separators = (",", ":") if indent is None else None
        text = json.dumps(data, indent=indent, separators=separators, ensure_ascii=False)
        part.write_text(f"{text}\n", encoding="utf8")


def write_jsonl(path: PathLike, records: Iterable[dict[str, Any]]) -> int:
    """Write JSON lines, atomically; gzipped if the name ends in .gz.

    Returns:
        The number of lines.
    """
    count = 0
    with write_text(path) as file:
        for record in records:
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
    return count


@contextmanager
def write_text(path: PathLike) -> Iterator[IO[str]]:
    r"""Write a UTF-8 file with line ends \n, atomically; gzipped if the name ends in .gz.

    Yields:
        The open file.

    Raises:
        PelError: if it cannot be written.
    """
    with atomic_path(path) as part:
        open_part: Any = gzip.open if part.suffix == ".gz" else open
        with open_part(part, "wt", encoding="utf8", newline="\n") as file:
            yield file
