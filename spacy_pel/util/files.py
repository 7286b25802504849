"""Reading UTF-8 files, plain or gzipped, with errors that name the line; writing files atomically."""

import codecs
import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

from ..errors import Errors, PelError, quoted, shortened
from .place import Place, unexpected
from .replacing import atomic_path

PathLike = str | Path
Item = TypeVar("Item")
READ_ERRORS = (EOFError, OSError, zlib.error)  # of damaged or truncated files
JSON_ERRORS = (ValueError, RecursionError)  # the latter: nested too deeply
# what data of another kind than a reader expects can raise in it
DATA_ERRORS = (*JSON_ERRORS, TypeError, AttributeError, LookupError, ArithmeticError, EOFError, csv.Error, zlib.error)
_EXPANSION = "SPACY_PEL_MAX_EXPANSION"  # environment variable: how many times its size a .gz may hold
_USUAL_EXPANSION = "200"  # MeSH expands 20 times, UMLS 8 times
_SMALL = 64 * 2**20  # bytes that any .gz may hold
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # the only way into JSON in UTF-8
_XML_ENCODING = re.compile(r"(<\?xml[^>]*?)\s+encoding=[\"'][^\"']*[\"']")
_LINE = 256 * 2**20  # bytes of the longest line
_BLOCK = 8 * 2**20  # bytes of a block of lines, about
_LINES = 4096  # of a block
csv.field_size_limit(_LINE)  # of the process; the default is 131,072 characters


class _LastRead:
    """The place that was read last, for errors that do not know theirs."""

    path: PathLike = ""
    line = 0


def last_read() -> str:
    """The file, and for one read line by line the line, that was read last; "" = none."""
    return f"{_LastRead.path}, line {_LastRead.line}" if _LastRead.line else str(_LastRead.path)


def check_is_file(path: Path) -> None:
    """Raises:
    PelError: if there is no such file, or it is a folder or a device.
    """
    if not os.path.isfile(path):  # pathlib's raises an OSError for a name that is too long
        got = "not a regular file" if os.path.exists(path) else "no such file"
        got = "a folder" if os.path.isdir(path) else got
        raise unexpected(path, "a file", got, "Check the path.")


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
        got = f"an OS error ({err.strerror or err})"
        raise unexpected(path, "a readable file", got, "Check its permissions.") from err


class _BoundedGzip(io.RawIOBase):
    """The bytes in a .gz file, up to a limit: a few megabytes can hold gigabytes of zeros."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.packed_size = path.stat().st_size
        self.size = 0
        self.file = gzip.open(path, "rb")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self.file.read1(len(buffer))
        self.size += len(content)
        check_expansion(self.path, packed_size=self.packed_size, size=self.size)
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self.file.close()
        super().close()


def check_expansion(path: PathLike, *, packed_size: int, size: int) -> None:
    """Check how much a compressed file holds. Up to 64 MiB it may hold any number of times its size.

    Raises:
        PelError: if it holds more than it may.
    """
    if size <= _SMALL:
        return
    setting = os.environ.get(_EXPANSION) or _USUAL_EXPANSION
    try:
        limit = max(_SMALL, int(packed_size * float(setting)))
    except (ValueError, OverflowError) as err:
        place = f"the environment variable {_EXPANSION}"
        raise unexpected(place, "a number", repr(setting), "Fix or unset it.") from err
    if size > limit:
        expected = f"a compressed file of at most {limit / 2**20:,.0f} MiB of data"
        todo = f"If you trust it, unpack it, or set {_EXPANSION} to more than {setting}."
        raise unexpected(path, expected, "more", todo)


def ending_of(path: Path) -> str:
    """Of a file name, in lower case, before .gz: ".obo" of "HP.OBO.gz"."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def folder_size(folder: Path) -> int:
    """Bytes of all files in a folder and below it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def raw_lines(path: PathLike, file: IO[bytes] | None = None) -> Iterator[tuple[int, bytes]]:
    """Stream the lines of a file, plain or gzipped, as bytes.

    Args:
        path: the file.
        file: its open content, unpacked; None = it is opened here.

    Yields:
        The number of the line, from 1, and the line with its end.

    Raises:
        PelError: if the file is missing or a damaged .gz, names the line; or if its lines end in CR
            alone, which would be one long line.
    """
    for first, lines in raw_blocks(path, file):
        for number, line in enumerate(lines, start=first):
            _LastRead.path, _LastRead.line = path, number
            yield number, line


def raw_blocks(path: PathLike, file: IO[bytes] | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """Stream the lines of a file as ``raw_lines`` does, thousands at a time.

    Yields:
        The number of the first line, from 1, and the lines with their ends;
        UTF-16 becomes UTF-8.

    Raises:
        PelError: as ``raw_lines``.
    """
    number = 1
    with file or open_bytes(path) as content:
        stream = _line_stream(content)
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
                raise _unreadable(f"{path}, line {number + len(lines)}", err) from err
            if not lines:
                return
            _LastRead.path, _LastRead.line = path, number
            if len(lines[-1]) > _LINE:
                place, expected = Place(Path(path), number + len(lines) - 1), f"lines of at most {_LINE // 2**20} MiB"
                raise unexpected(place, expected, "a longer one", "Check that this is the right file.")
            if number == 1 and b"\r" in lines[0].rstrip():
                text = b"".join(lines)
                if text.count(b"\r") - text.count(b"\r\n") >= len(lines):
                    expected, todo = "lines that end in LF or CR LF", "Convert it, e.g. with: tr '\\r' '\\n'"
                    raise unexpected(path, expected, "lines that end in CR alone", todo)
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
    return _as_utf8(io.TextIOWrapper(file, encoding=encoding, newline="\n"))


def _as_utf8(text: IO[str]) -> Iterator[bytes]:
    line = _XML_ENCODING.sub(r"\1", text.readline(_LINE + 1))  # it is UTF-8 now
    while line:
        yield line.encode("utf8")
        line = text.readline(_LINE + 1)


def read_lines(path: PathLike, file: IO[bytes] | None = None, *, line_ends: str = "\r\n") -> Iterator[tuple[int, str]]:
    r"""Stream the lines of a UTF-8 file, plain or gzipped, without their ends and without a BOM.

    Args:
        path: the file.
        file: its open content, unpacked; None = it is opened here.
        line_ends: the characters to remove; "\n" keeps the CR of CR LF.

    Yields:
        The number of the line, from 1, and the line; empty lines too.

    Raises:
        PelError: if the file is missing, a damaged .gz, or not UTF-8; names the line.
    """
    for number, raw in raw_lines(path, file):
        try:
            line = raw.decode("utf8")
        except UnicodeDecodeError as err:
            raise _unreadable(f"{path}, line {number}", err) from err
        yield number, (line.removeprefix("\ufeff") if number == 1 else line).rstrip(line_ends)


def read_text(path: PathLike) -> str:
    """The text of a UTF-8 file, plain or gzipped, with its line ends but without a BOM.

    Raises:
        PelError: if the file is missing, a damaged .gz, or not UTF-8.
    """
    with open_bytes(path) as file:
        try:
            return str(file.read(), "utf8").removeprefix("\ufeff")
        except (UnicodeDecodeError, *READ_ERRORS) as err:
            raise _unreadable(path, err) from err


def _unreadable(place: PathLike, err: Exception) -> PelError:
    todo = "Download the file again."
    if isinstance(err, UnicodeDecodeError) and err.encoding == "utf-8":
        todo = "Convert it, e.g. from Windows-1252 or Latin-1 with: iconv -f WINDOWS-1252 -t UTF-8"
    return unexpected(place, "readable UTF-8 text", f"an error: {err}", todo)


def read_cells(
    path: Path, lines: Iterable[tuple[int, str]], *, delimiter: str = "\t", quotes: bool = True, texts: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Split the lines of a table into cells.

    Args:
        path: the file, for errors.
        lines: numbered lines without their ends.
        delimiter: between cells.
        quotes: quotation marks enclose cells, which may then hold delimiters, line ends and doubled
            quotation marks; False = they are ordinary characters.
        texts: cells hold whole texts, so a line end and a tab in one cell are no sign of a stray quotation mark.

    Yields:
        The number of the row's last line, and its cells; no empty lines.

    Raises:
        PelError: at a quotation mark that is never closed, or closed in another row: the rows between
            would be lost; names the line.
    """
    first = number = 0  # lines of the row

    def numbered() -> Iterator[str]:
        nonlocal first, number
        for at, line in lines:
            first, number = first or at, at
            yield line + "\n"

    def not_a_row(got: str) -> PelError:
        todo = "Check the quotation marks of this row."
        return unexpected(Place(path, first), "a row of a table", got, todo)

    quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    try:
        for cells in csv.reader(numbered(), delimiter=delimiter, quoting=quoting, strict=True):
            swallowed = next((cell for cell in cells if "\n" in cell and delimiter in cell), None)
            if swallowed is not None and delimiter == "\t" and not texts:
                raise not_a_row(f"a cell with rows in it: {quoted(swallowed)}")
            if cells:
                yield number, cells
            first = 0
    except csv.Error as err:
        raise not_a_row(f"an error: {err}") from err


def check_unicode(record: dict[str, Any], place: object) -> None:
    """Raises:
    PelError: if a string in a record has a lone surrogate, which JSON can write but UTF-8 cannot
        hold.
    """
    try:
        text = json.dumps(record, ensure_ascii=False, default=str)
        text.encode("utf8")
    except RecursionError as err:
        raise unexpected(place, "flat data", "deeply nested data", "Fix it.") from err
    except UnicodeEncodeError as err:
        got = f"a lone surrogate after {quoted(text[max(0, err.start - 40) : err.start])}"
        raise unexpected(place, "text that UTF-8 can hold", got, "Fix the text.") from err


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
        names, place = [str(path) for path in paths], last_read()
        place = place if place.startswith(tuple(names)) else ", ".join(names)
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
        raise unexpected(path, "JSON", f"invalid JSON ({err})") from err


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


def json_object(line: str | bytes, place: object) -> dict[str, Any]:
    """Parse one line.

    Raises:
        PelError: if it is not an object; names the place.
    """
    try:
        record = json.loads(line)
        got = type(record).__name__
    except JSON_ERRORS as err:
        record, got = None, f"invalid JSON ({err})"
    if not isinstance(record, dict):
        raise unexpected(place, "a JSON object", got, "Fix the line.")
    return record


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
