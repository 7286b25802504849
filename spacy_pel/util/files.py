"""Reading and writing files so that a killed run leaves no half-written output."""

import gzip
import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Dict, Iterable, Iterator, Union

from ..errors import Errors, PelError

PathLike = Union[str, Path]


@contextmanager
def atomic_path(target: PathLike) -> Iterator[Path]:
    """Give a temporary path beside the target; rename it to the target on success.

    Works for files and folders. On any error the temporary output is removed and what
    was at the target stays.

    target (PathLike): where the output shall be.
    YIELDS (Path): a path that does not exist yet, on the same file system.
    RAISES (PelError): if the file system refuses the output (full disk, no permission).
    """
    target = Path(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        holder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as err:
        raise PelError(_unwritable(target, err)) from err
    try:
        part = holder / target.name
        yield part
        if part.is_dir() and target.is_dir() and not target.is_symlink():
            # a folder cannot replace a filled folder in one step: move the old one aside
            os.replace(target, holder / "old")
        os.replace(part, target)
    except OSError as err:
        if err.filename is not None and not str(err.filename).startswith(str(holder)):
            raise  # an input's error, not the output's
        raise PelError(_unwritable(target, err)) from err
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def _unwritable(target: Path, err: OSError) -> str:
    return Errors.E002.format(
        expected="a writable path",
        path=target,
        got=f"an OS error ({err.strerror or err})",
        todo="Nothing was changed there. Free some space, or choose another folder.",
    )


def open_text(path: PathLike) -> IO[str]:
    """Open a UTF-8 text file for reading, unpacking .gz on the way.

    RAISES (PelError): if there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise PelError(
            Errors.E002.format(
                expected="a file",
                path=path,
                got="a folder" if path.is_dir() else "nothing",
                todo="Check the path.",
            )
        )
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf8")
    return path.open("rt", encoding="utf8")


def read_json(path: PathLike) -> Any:
    """RAISES (PelError): if the file is missing or is not JSON."""
    with open_text(path) as file:
        try:
            return json.load(file)
        except ValueError as err:
            raise PelError(
                Errors.E002.format(
                    expected="JSON", path=path, got=f"invalid JSON ({err})", todo="Fix the file."
                )
            ) from err


def write_json(path: PathLike, data: Any) -> None:
    """Write indented JSON, atomically."""
    with atomic_path(path) as part:
        part.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf8")


def read_jsonl(path: PathLike) -> Iterator[Dict[str, Any]]:
    """RAISES (PelError): at a line that is not a JSON object; names the line."""
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as err:
                raise PelError(_bad_line(path, number, f"invalid JSON ({err})")) from err
            if not isinstance(record, dict):
                raise PelError(_bad_line(path, number, type(record).__name__))
            yield record


def _bad_line(path: PathLike, number: int, got: str) -> str:
    return Errors.E002.format(
        expected="a JSON object", path=f"{path}, line {number}", got=got, todo="Fix the line."
    )


def write_jsonl(path: PathLike, records: Iterable[Dict[str, Any]]) -> int:
    """Write JSON lines, atomically; packed if the name ends in .gz.

    RETURNS (int): the number of lines.
    """
    count = 0
    with atomic_path(path) as part:
        packed = part.suffix == ".gz"
        with gzip.open(part, "wt", encoding="utf8") if packed else part.open("w", encoding="utf8") as file:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
    return count
