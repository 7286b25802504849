"""Reading UTF-8 files, plain or gzipped, with errors that name the line; writing files atomically."""

import codecs
import csv
import gzip
import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

from ..errors import Errors, PelError, quoted, shortened
from .replacing import make_holder, move_into_place, remove_leftovers, without_holders

PathLike = str | Path
Item = TypeVar("Item")
READ_ERRORS = (EOFError, OSError, zlib.error)  # of damaged or truncated files
JSON_ERRORS = (ValueError, RecursionError)  # the latter: nested too deeply
# what data of another kind than a reader expects can raise in it
DATA_ERRORS = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    EOFError,
    csv.Error,
    zlib.error,
)
EXPANSION = "SPACY_PEL_MAX_EXPANSION"  # environment variable: how many times its size a .gz may hold
_EXPANSION = 200  # MeSH expands 20 times, UMLS 8 times
_SMALL = 64 * 2**20  # bytes that any .gz may hold
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # the only way into JSON in UTF-8
_XML_ENCODING = re.compile(r"(<\?xml[^>]*?)\s+encoding=[\"'][^\"']*[\"']")
_LINE = 256 * 2**20  # bytes of the longest line
_BLOCK = 8 * 2**20  # bytes of a block of lines, about
_LINES = 4096  # of a block


@contextmanager
def atomic_path(target: PathLike) -> Iterator[Path]:
    """Give a temporary path next to the target; rename it to the target on success.

    Works for files and folders. On any error the temporary output is removed and the target is left as it
    was. A process that is killed leaves the old or the new target, whole, and perhaps a hidden folder
    beside it, which the next process that writes there removes.

    Args:
        target: the path of the output.

    Yields:
        A path that does not exist yet, on the same file system.

    Raises:
        PelError: if the file system refuses the output (full disk, no permission).
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
    except Exception as err:
        if "(os error " in str(err) and not isinstance(err, PelError):  # of safetensors and tokenizers
            raise PelError(unwritable(target, err)) from err
        raise
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def unwritable(target: Path, err: Exception) -> str:
    """The text of an error while writing to ``target``."""
    return Errors.E002.format(
        expected="a writable path",
        path=without_holders(target),
        got=f"an OS error ({getattr(err, 'strerror', None) or err})",
        todo="Nothing was changed there. Free some space, or choose another folder.",
    )


class _LastRead:
    """The place that was read last, for errors that do not know theirs."""

    path: PathLike = ""
    line = 0


def last_read() -> str:
    """The file, and for one read line by line the line, that was read last; "" = none."""
    return f"{_LastRead.path}, line {_LastRead.line}" if _LastRead.line else str(_LastRead.path)


def open_text(path: PathLike) -> IO[str]:
    """Open a UTF-8 text file, plain or gzipped, for reading.

    Raises:
        PelError: if there is no such file or it cannot be opened; while reading, if a .gz holds more
            than 200 times its size, or what the environment variable SPACY_PEL_MAX_EXPANSION says.
    """
    return io.TextIOWrapper(open_bytes(path), encoding="utf8")


def open_bytes(path: PathLike) -> IO[bytes]:
    """As ``open_text``, for the bytes."""
    path = Path(path)
    check_is_file(path)
    _LastRead.path, _LastRead.line = path, 0
    try:
        return io.BufferedReader(_BoundedGzip(path)) if path.suffix.lower() == ".gz" else path.open("rb")
    except OSError as err:
        raise PelError(
            Errors.E002.format(
                expected="a readable file",
                path=path,
                got=f"an OS error ({err.strerror or err})",
                todo="Check its permissions.",
            )
        ) from err


def check_is_file(path: Path) -> None:
    """Raises:
    PelError: if there is no such file, or it is a folder or a device.
    """
    if not os.path.isfile(path):  # pathlib's raises an OSError for a name that is too long
        is_there = os.path.exists(path)
        got = "a folder" if os.path.isdir(path) else "not a regular file" if is_there else "no such file"
        raise PelError(Errors.E002.format(expected="a file", path=path, got=got, todo="Check the path."))


class _BoundedGzip(io.RawIOBase):
    """The bytes in a .gz file, up to a limit: a few megabytes can hold gigabytes of zeros."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.limit = max(_SMALL, int(path.stat().st_size * max_expansion()))
        self.size = 0
        self.file = gzip.open(path, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self.file.read1(len(buffer))
        self.size += len(found)
        check_expansion(self.path, self.size, self.limit)
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self.file.close()
        super().close()


def max_expansion() -> float:
    """How many times its size a compressed file may hold."""
    given = os.environ.get(EXPANSION, "")
    try:
        if not given or float(given) > 0:
            return float(given or _EXPANSION)
    except ValueError:
        pass
    raise PelError(
        Errors.E002.format(
            expected="a number greater than 0",
            path=f"the environment variable {EXPANSION}",
            got=repr(given),
            todo="Fix or unset it.",
        )
    )


def check_expansion(path: PathLike, size: int, limit: int) -> None:
    """Raises:
    PelError: if a compressed file holds more bytes than the limit (at least 64 MiB).
    """
    if size > max(limit, _SMALL):
        raise PelError(
            Errors.E002.format(
                expected=f"a compressed file of at most {max(limit, _SMALL) / 2**20:,.0f} MiB of data",
                path=path,
                got="more",
                todo=f"If you trust it, unpack it, or set {EXPANSION} to more than {max_expansion():g}.",
            )
        )


def ending_of(path: Path) -> str:
    """Of a file name, in lower case, before .gz: ".obo" of "HP.OBO.gz"."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def raw_lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Stream the lines of a file, plain or gzipped, as bytes.

    Args:
        path: the file.

    Yields:
        The number of the line, from 1, and the line with its end.

    Raises:
        PelError: if the file is missing or a damaged .gz, names the line; or if its lines end in CR
            alone, which would be one long line.
    """
    for first, lines in raw_blocks(path):
        for number, line in enumerate(lines, start=first):
            _LastRead.path, _LastRead.line = path, number
            yield number, line


def raw_blocks(path: PathLike) -> Iterator[tuple[int, list[bytes]]]:
    """Stream the lines of a file as ``raw_lines`` does, thousands at a time.

    Yields:
        The number of the first line, from 1, and the lines with their ends;
        UTF-16 becomes UTF-8.

    Raises:
        PelError: as ``raw_lines``.
    """
    number = 1
    with open_bytes(path) as file:
        stream = _line_stream(file)
        while True:
            lines: list[bytes] = []
            try:
                size = 0
                for line in islice(stream, _LINES):
                    lines.append(line)  # keeps the lines before an error
                    size += len(line)
                    if size >= _BLOCK:  # also after one line that is too long
                        break
            except (*READ_ERRORS, UnicodeDecodeError) as err:
                yield number, lines
                raise PelError(_unreadable(f"{path}, line {number + len(lines)}", err)) from err
            if not lines:
                return
            _LastRead.path, _LastRead.line = path, number
            if size > _LINE:
                _check_lengths(path, number, lines)
            if number == 1 and b"\r" in lines[0]:
                text = b"".join(lines)
                if text.count(b"\r") - text.count(b"\r\n") >= len(lines):
                    raise PelError(_cr_alone(path))
            yield number, lines
            number += len(lines)


def _line_stream(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of an open file; UTF-16, with or without a BOM, becomes UTF-8."""
    try:
        head = file.peek(2)[:2]  # type: ignore[attr-defined]
    except READ_ERRORS:  # reading the first line raises it again, with its number
        head = b""
    # text begins with an ASCII character, and has no NUL
    without_bom = {b"\0": "utf-16-be"}.get(head[:1], "utf-16-le" if head[1:] == b"\0" else "")
    encoding = "utf-16" if head in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else without_bom
    if not encoding:
        return iter(partial(file.readline, _LINE + 1), b"")
    text = io.TextIOWrapper(file, encoding=encoding, newline="\n")
    return _as_utf8(text)


def _as_utf8(text: IO[str]) -> Iterator[bytes]:
    line = _XML_ENCODING.sub(r"\1", text.readline(_LINE + 1))  # it is UTF-8 now
    while line:
        yield line.encode("utf8")
        line = text.readline(_LINE + 1)


def _check_lengths(path: PathLike, number: int, lines: list[bytes]) -> None:
    for at, line in enumerate(lines, start=number):
        if len(line) > _LINE:
            raise PelError(
                Errors.E002.format(
                    expected=f"lines of at most {_LINE // 2**20} MiB",
                    path=f"{path}, line {at}",
                    got="a longer one",
                    todo="Check that this is the right file.",
                )
            )


def _cr_alone(path: PathLike) -> str:
    return Errors.E002.format(
        expected="lines that end in LF or CR LF",
        path=path,
        got="lines that end in CR alone",
        todo="Convert it, e.g. with: tr '\\r' '\\n'",
    )


def read_lines(path: PathLike) -> Iterator[tuple[int, str]]:
    """Stream the lines of a UTF-8 file, plain or gzipped, without their ends and without a BOM.

    Args:
        path: the file.

    Yields:
        The number of the line, from 1, and the line; empty lines too.

    Raises:
        PelError: if the file is missing, a damaged .gz, or not UTF-8; names the line.
    """
    for number, raw in raw_lines(path):
        try:
            line = raw.decode("utf8")
        except UnicodeDecodeError as err:
            raise PelError(_unreadable(f"{path}, line {number}", err)) from err
        yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")


def read_text(path: PathLike) -> str:
    """The text of a UTF-8 file, plain or gzipped, with its line ends but without a BOM.

    Raises:
        PelError: if the file is missing, a damaged .gz, or not UTF-8.
    """
    with open_bytes(path) as file:
        try:
            return str(file.read(), "utf8").removeprefix("\ufeff")
        except (UnicodeDecodeError, *READ_ERRORS) as err:
            raise PelError(_unreadable(path, err)) from err


def _unreadable(place: PathLike, err: Exception) -> str:
    todo = "Download the file again."
    if isinstance(err, UnicodeDecodeError) and err.encoding == "utf-8":
        todo = "Convert it, e.g. from Windows-1252 or Latin-1 with: iconv -f WINDOWS-1252 -t UTF-8"
    return Errors.E002.format(expected="readable UTF-8 text", path=place, got=f"an error: {err}", todo=todo)


def check_unicode(record: dict[str, Any], place: object) -> None:
    """Raises:
    PelError: if a string in a record has a lone surrogate, which JSON can write but UTF-8 cannot
        hold.
    """
    try:
        text = json.dumps(record, ensure_ascii=False, default=str)
        text.encode("utf8")
    except RecursionError as err:
        raise PelError(
            Errors.E002.format(expected="flat data", path=place, got="deeply nested data", todo="Fix it.")
        ) from err
    except UnicodeEncodeError as err:
        raise PelError(
            Errors.E002.format(
                expected="text that UTF-8 can hold",
                path=place,
                got=f"a lone surrogate after {quoted(text[max(0, err.start - 40) : err.start])}",
                todo="Fix the text.",
            )
        ) from err


def guarded(items: Iterable[Item], reader: str, paths: Iterable[PathLike]) -> Iterator[Item]:
    """Stream what a reader gives; what unexpected data raises in it becomes an error that names the place.

    Args:
        reader: its name.
        paths: what it reads.

    Raises:
        PelError: for any error that data can cause.
    """
    try:
        yield from items
    except PelError:
        raise
    except DATA_ERRORS as err:
        given, place = [str(path) for path in paths], last_read()
        place = place if place.startswith(tuple(given)) else ", ".join(given)
        got = f"{type(err).__name__}: {err}"
        raise PelError(Errors.E012.format(reader=reader, place=place, got=shortened(got))) from err


def read_json(path: PathLike) -> Any:
    """Raises:
    PelError: if the file is missing or is not JSON.
    """
    text = read_text(path)
    try:
        return json.loads(text)
    except JSON_ERRORS as err:
        raise PelError(
            Errors.E002.format(expected="JSON", path=path, got=f"invalid JSON ({err})", todo="Fix the file.")
        ) from err


def read_jsonl(path: PathLike) -> Iterator[dict[str, Any]]:
    """Raises:
    PelError: at a line that is not a JSON object; names the line.
    """
    for _, record in numbered_jsonl(path):
        yield record


def numbered_jsonl(path: PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """Stream the objects of a JSON lines file, plain or gzipped.

    Args:
        path: the file.

    Yields:
        The number of the line, from 1, and its object.

    Raises:
        PelError: as ``read_lines``, and at a line that is not a JSON object or holds a lone surrogate;
            names the line.
    """
    for number, line in read_lines(path):
        if line.strip():
            record = json_object(line, f"{path}, line {number}")
            if _ESCAPED_SURROGATE.search(line):
                check_unicode(record, f"{path}, line {number}")
            yield number, record


def json_object(line: str, place: object) -> dict[str, Any]:
    """Of one line. RAISES (PelError): if it is not an object; names the place."""
    try:
        record = json.loads(line)
        got = type(record).__name__
    except JSON_ERRORS as err:
        record, got = None, f"invalid JSON ({err})"
    if not isinstance(record, dict):
        raise PelError(Errors.E002.format(expected="a JSON object", path=place, got=got, todo="Fix the line."))
    return record


def write_json(path: PathLike, data: Any, *, indent: int | None = 2) -> None:
    """Write JSON, atomically.

    Args:
        indent: blanks for each level; None = all in one line, for long lists of numbers.
    """
    with atomic_path(path) as part:
        part.write_text(json.dumps(data, indent=indent, ensure_ascii=False) + "\n", encoding="utf8")


def write_jsonl(path: PathLike, records: Iterable[dict[str, Any]]) -> int:
    """Write JSON lines, atomically; gzipped if the name ends in .gz.

    Returns:
        The number of lines.
    """
    count = 0
    with atomic_path(path) as part:
        gzipped = part.suffix == ".gz"
        with gzip.open(part, "wt", encoding="utf8") if gzipped else part.open("w", encoding="utf8") as file:
            for record in records:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += 1
    return count
