"""Reading UTF-8 files, plain or gzipped, with errors that name the line; writing files atomically."""

import gzip
import json
import shutil
import zlib
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, Dict, Iterable, Iterator, List, Tuple, Union

from ..errors import Errors, PelError
from .replacing import make_holder, move_into_place, remove_leftovers

PathLike = Union[str, Path]
READ_ERRORS = (EOFError, OSError, zlib.error)  # of damaged or truncated files
JSON_ERRORS = (ValueError, RecursionError)  # the latter: nested too deeply
_LINES = 4096  # of a block


@contextmanager
def atomic_path(target: PathLike) -> Iterator[Path]:
    """Give a temporary path next to the target; rename it to the target on success.

    Works for files and folders. On any error the temporary output is removed and the target is left as it
    was. A process that is killed leaves the old or the new target, whole, and perhaps a hidden folder
    beside it, which the next process that writes there removes.

    target (PathLike): the path of the output.
    YIELDS (Path): a path that does not exist yet, on the same file system.
    RAISES (PelError): if the file system refuses the output (full disk, no permission).
    """
    target = Path(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(target.parent)
        holder = make_holder(target)
    except OSError as err:
        raise PelError(unwritable(target, err)) from err
    try:
        part = holder / target.name
        yield part
        move_into_place(part, target)
    except OSError as err:
        if err.filename is not None and not str(err.filename).startswith(str(holder)):
            raise  # an input's error, not the output's
        raise PelError(unwritable(target, err)) from err
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def unwritable(target: Path, err: OSError) -> str:
    """RETURNS (str): the text of an error while writing to ``target``."""
    return Errors.E002.format(
        expected="a writable path",
        path=target,
        got=f"an OS error ({err.strerror or err})",
        todo="Nothing was changed there. Free some space, or choose another folder.",
    )


def open_text(path: PathLike) -> IO[str]:
    """Open a UTF-8 text file, plain or gzipped, for reading.

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


def raw_lines(path: PathLike) -> Iterator[Tuple[int, bytes]]:
    """Stream the lines of a file, plain or gzipped, as bytes.

    path (PathLike): the file.
    YIELDS (Tuple[int, bytes]): the number of the line, from 1, and the line with its end.
    RAISES (PelError): if the file is missing or a damaged .gz, names the line; or if its lines end in CR
        alone, which would be one long line.
    """
    for number, lines in raw_blocks(path):
        yield from enumerate(lines, start=number)


def raw_blocks(path: PathLike) -> Iterator[Tuple[int, List[bytes]]]:
    """Stream the lines of a file as ``raw_lines`` does, thousands at a time.

    YIELDS (Tuple[int, List[bytes]]): the number of the first line, from 1, and the lines with their ends.
    RAISES (PelError): as ``raw_lines``.
    """
    number = 1
    with open_text(path) as file:
        stream: Iterator[bytes] = iter(file.buffer)  # type: ignore[attr-defined]
        while True:
            lines: List[bytes] = []
            try:
                lines.extend(islice(stream, _LINES))  # keeps the lines before an error
            except READ_ERRORS as err:
                yield number, lines
                raise PelError(_unreadable(f"{path}, line {number + len(lines)}", err)) from err
            if not lines:
                return
            if number == 1 and b"\r" in lines[0].rstrip(b"\r\n") and not lines[0].endswith(b"\n"):
                raise PelError(
                    Errors.E002.format(
                        expected="lines that end in LF or CR LF",
                        path=path,
                        got="lines that end in CR alone",
                        todo="Convert it, e.g. with: tr '\\r' '\\n'",
                    )
                )
            yield number, lines
            number += len(lines)


def read_lines(path: PathLike) -> Iterator[Tuple[int, str]]:
    """Stream the lines of a UTF-8 file, plain or gzipped, without their ends and without a BOM.

    path (PathLike): the file.
    YIELDS (Tuple[int, str]): the number of the line, from 1, and the line; empty lines too.
    RAISES (PelError): if the file is missing, a damaged .gz, or not UTF-8; names the line.
    """
    for number, raw in raw_lines(path):
        try:
            line = raw.decode("utf8")
        except UnicodeDecodeError as err:
            raise PelError(_unreadable(f"{path}, line {number}", err)) from err
        yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")


def read_text(path: PathLike) -> str:
    """RETURNS (str): the text of a UTF-8 file, plain or gzipped, with its line ends as they are.

    RAISES (PelError): if the file is missing, a damaged .gz, or not UTF-8.
    """
    with open_text(path) as file:
        try:
            return str(file.buffer.read(), "utf8")  # type: ignore[attr-defined]
        except (UnicodeDecodeError, *READ_ERRORS) as err:
            raise PelError(_unreadable(path, err)) from err


def _unreadable(place: PathLike, err: Exception) -> str:
    todo = "Download the file again."
    if isinstance(err, UnicodeDecodeError):
        todo = "Convert it, e.g. with: iconv -f LATIN1 -t UTF-8"
    return Errors.E002.format(expected="readable UTF-8 text", path=place, got=f"an error: {err}", todo=todo)


def check_unicode(record: Dict[str, Any], place: object) -> None:
    """RAISES (PelError): if a string in a record has a lone surrogate, which JSON can write but UTF-8 cannot
    hold."""
    text = json.dumps(record, ensure_ascii=False, default=str)
    try:
        text.encode("utf8")
    except UnicodeEncodeError as err:
        raise PelError(
            Errors.E002.format(
                expected="text that UTF-8 can hold",
                path=place,
                got=f"a lone surrogate after {text[max(0, err.start - 40) : err.start]!r}",
                todo="Fix the text.",
            )
        ) from err


def shortened(text: str, n: int = 200) -> str:
    """RETURNS (str): a text for an error, cut after n characters."""
    return text if len(text) <= n else f"{text[:n]}…"


def read_json(path: PathLike) -> Any:
    """RAISES (PelError): if the file is missing or is not JSON."""
    text = read_text(path)
    try:
        return json.loads(text)
    except JSON_ERRORS as err:
        raise PelError(
            Errors.E002.format(expected="JSON", path=path, got=f"invalid JSON ({err})", todo="Fix the file.")
        ) from err


def read_jsonl(path: PathLike) -> Iterator[Dict[str, Any]]:
    """RAISES (PelError): at a line that is not a JSON object; names the line."""
    for _, record in numbered_jsonl(path):
        yield record


def numbered_jsonl(path: PathLike) -> Iterator[Tuple[int, Dict[str, Any]]]:
    """Stream the objects of a JSON lines file, plain or gzipped.

    path (PathLike): the file.
    YIELDS (Tuple[int, Dict[str, Any]]): the number of the line, from 1, and its object.
    RAISES (PelError): as ``read_lines``, and at a line that is not a JSON object; names the line.
    """
    for number, line in read_lines(path):
        if line.strip():
            yield number, json_object(line, f"{path}, line {number}")


def json_object(line: str, place: object) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): of one line. RAISES (PelError): if it is not an object; names the place."""
    try:
        record = json.loads(line)
        got = type(record).__name__
    except JSON_ERRORS as err:
        record, got = None, f"invalid JSON ({err})"
    if not isinstance(record, dict):
        raise PelError(
            Errors.E002.format(expected="a JSON object", path=place, got=got, todo="Fix the line.")
        )
    return record


def write_json(path: PathLike, data: Any) -> None:
    """Write indented JSON, atomically."""
    with atomic_path(path) as part:
        part.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf8")


def write_jsonl(path: PathLike, records: Iterable[Dict[str, Any]]) -> int:
    """Write JSON lines, atomically; gzipped if the name ends in .gz.

    RETURNS (int): the number of lines.
    """
    count = 0
    with atomic_path(path) as part:
        gzipped = part.suffix == ".gz"
        with gzip.open(part, "wt", encoding="utf8") if gzipped else part.open("w", encoding="utf8") as file:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
    return count
