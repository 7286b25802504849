"""Reading UTF-8 files, plain or gzipped, line by line; errors name the place. And hashes of contents."""

import codecs
import gzip
import hashlib
import io
import json
import os
import re
import zlib
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from ..errors import Errors, PelError, quoted


class Place(NamedTuple):
    """Where a record is: a file and a line (0 = the format has no meaningful lines)."""

    path: Path
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}" if self.line else str(self.path)


def unexpected(place: object, expected: str, got: object, todo: str = "Fix the file.") -> PelError:
    """The error for content that a reader cannot use.

    Args:
        place: where it is, mostly a Place.
        expected, got: what should be there, and what is there.
        todo: a sentence for the user.
    """
    return PelError(Errors.E002.format(expected=expected, path=place, got=got, todo=todo))


PathLike = str | Path
READ_ERRORS = (EOFError, OSError, zlib.error)  # of damaged or truncated files
_EXPANSION = 200  # times its size a .gz may hold; MeSH expands 20 times, UMLS 8 times
_SMALL = 64 * 2**20  # bytes that any .gz may hold
GZIP = b"\x1f\x8b"
_XML_ENCODING = re.compile(r"(<\?xml[^>]*?)\s+encoding=[\"'][^\"']*[\"']")
LONGEST_LINE = 256 * 2**20  # bytes of the longest line
_BLOCK = 8 * 2**20  # bytes of a block of lines, about
_LINES = 4096  # of a block


class Format(NamedTuple):
    """What a file is.

    Attributes:
        name: with its article, e.g. "a zip file".
        todo: a sentence for the user; "" = a KB reader reads it.
    """

    name: str
    todo: str = ""


_UNPACK = "Unpack it."
_AS_TEXTS = "It is not read. Get it as BioC or PubTator, or write a table or JSON lines with an id and a text each."
_TAG = r"\s*(?:(?:<[?!](?!--)[^>]*>|<!--(?:(?!-->).)*-->)\s*)*<(?:\w+:)?"  # and the name of the root element
# with three NULs, as UTF-16 has at most two; or of PNG, HDF5, NumPy, pickle, JPEG, Arrow and Stata
_BINARY = r"(?=.{,8000}\0\0\0)|\x89(PNG|HDF)|\x93NUMPY|\x80[\x02-\x05]|\xff\xd8\xff|ARROW1\0|<stata_dta>"
# how files begin that are taken for tables, ontologies or texts by mistake, or by their names only; the first that fits
_BEGINNINGS = {
    r"PK\x03\x04.{,4000}\b(xl|word)/|\xd0\xcf\x11\xe0": Format("an Excel or Word file", "Save it as CSV or text."),
    r"PK(\x03\x04|\x05\x06)": Format("a zip file", _UNPACK),
    r"\x1f\x8b|BZh\d1AY|\xfd7zXZ\0|7z\xbc\xaf|Rar!\x1a|\x28\xb5\x2f\xfd|.{257}ustar": Format("packed data", _UNPACK),
    r"%PDF-": Format("a PDF", "Extract its text."),
    r"\{\\rtf": Format("rich text (RTF)", "Save it as text."),
    r"x\x9c": Format(
        "zlib data, such as spaCy's DocBin", "Convert a DocBin: spacy-pel convert OUT.jsonl --reader docbin"
    ),
    r"PAR1[\x00-\x1f]": Format("a Parquet file", "Name it .parquet, where tables are read, or save it as CSV."),
    _TAG + r"html\b|\s*<!doctype html": Format("a web page (HTML)", "Download the file itself, or extract its text."),
    _TAG + r"Pubmed(Book)?Article": Format("PubMed XML", _AS_TEXTS),
    _TAG + r"(pmc-articleset|article|TEI)\b": Format("JATS or TEI, the XML of articles", _AS_TEXTS),
    _TAG + r"ClaML\b": Format("ClaML", "It is not read. Write its codes and titles as a table."),
    _TAG + r"[^>]*hl7\.org/fhir": Format("FHIR in XML", "Get it as JSON."),
    r'\s*\{.{,4000}"resourceType"\s*:\s*"(CodeSystem|ValueSet|Bundle)"': Format("FHIR"),
    r"\s*PMID *- ": Format("a list of PubMed's (.nbib)", _AS_TEXTS),
    r"\s*TY  - ": Format("a list of references (.ris)", _AS_TEXTS),
    "version https://git-lfs": Format("a Git LFS pointer", "Get the file itself: git lfs pull"),
    _BINARY: Format("a binary file", "Check that it is the right one."),
}
_PATTERNS = [(re.compile(pattern.encode("latin1"), re.DOTALL | re.I), known) for pattern, known in _BEGINNINGS.items()]
_HEAD = 8192  # bytes that say what a file is


def format_of(head: bytes) -> Format | None:
    """What a file is, by its first bytes; None = they do not say, as of texts and tables."""
    head = head.removeprefix(codecs.BOM_UTF8)
    if head[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return None
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        head = head[2:].replace(b"\0", b"")
    return next((known for pattern, known in _PATTERNS if pattern.match(head)), None)


def check_format(path: PathLike, head: bytes | None = None, *, of_texts: bool = False) -> None:
    """Raises:
    PelError: if a file, or what begins with these bytes, is of a format that no reader reads, or none of texts.
    """
    if head is None:
        with open_bytes(path) as file:
            head = _head(file)
    known = format_of(head)
    if known and (known.todo or of_texts):
        todo = known.todo or "It holds names, not texts: see spacy-pel kb build."
        raise unexpected(path, "a format that is read", known.name, todo)


def first_bytes(path: PathLike, size: int) -> bytes:
    """Where a file begins; nothing of a damaged one: its reader says what is wrong with it.

    Raises:
        PelError: if there is no such file or it cannot be opened.
    """
    with open_bytes(path) as file:
        try:
            return file.read(size)
        except READ_ERRORS:
            return b""


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
            than 200 times its size.
    """
    return io.TextIOWrapper(open_bytes(path), encoding="utf8")


def open_bytes(path: PathLike) -> IO[bytes]:
    """As ``open_text``, for the bytes. What begins as gzip is unpacked under any name."""
    path = Path(path)
    check_is_file(path)
    try:
        file = path.open("rb")
        head = file.peek(2)[:2]
        if path.suffix.lower() != ".gz" and head != GZIP:
            return file
        file.close()
        if head not in (GZIP, b""):
            raise unexpected(path, "gzip, as its name says", quoted(head), "Take .gz off its name, or get it again.")
        return io.BufferedReader(_BoundedGzip(path))
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
        n_read = self.file.readinto1(buffer)
        self.size += n_read
        check_expansion(self.path, packed_size=self.packed_size, size=self.size)
        return n_read

    def close(self) -> None:
        self.file.close()
        super().close()


def check_expansion(path: PathLike, *, packed_size: int, size: int) -> None:
    """Check how much a compressed file holds. Up to 64 MiB it may hold any number of times its size.

    Raises:
        PelError: if it holds more than it may.
    """
    limit = max(_SMALL, packed_size * _EXPANSION)
    if size > limit:
        expected = f"a compressed file of at most {limit / 2**20:,.0f} MiB of data"
        raise unexpected(path, expected, "more", "If you trust it, unpack it.")


def ending_of(path: Path) -> str:
    """Of a file name, in lower case, before .gz: ".obo" of "HP.OBO.gz"."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def folder_size(folder: Path) -> int:
    """Bytes of all files in a folder and below it."""
    return sum(file.stat().st_size for file in files_below(folder) if file.is_file())


def files_below(folder: Path) -> Iterator[Path]:
    """All in a folder that is no folder. rglob fails where another process removes one."""
    return (Path(place, name) for place, _, names in os.walk(folder) for name in names)


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
        yield from enumerate(lines, start=first)


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
        head = _head(content)
        check_format(path, head)
        stream = _line_stream(content, head)
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
            if len(lines[-1]) > LONGEST_LINE:
                place, most = f"{path}, line {number + len(lines) - 1}", f"lines of at most {LONGEST_LINE >> 20} MiB"
                raise unexpected(place, most, "a longer one", "Check that this is the right file.")
            if number == 1 and b"\r" in lines[0].rstrip():
                text = b"".join(lines)
                if text.count(b"\r") - text.count(b"\r\n") >= len(lines):
                    expected, todo = "lines that end in LF or CR LF", "Convert it, e.g. with: tr '\\r' '\\n'"
                    raise unexpected(path, expected, "lines that end in CR alone", todo)
            yield number, lines
            number += len(lines)


def _head(file: IO[bytes]) -> bytes:
    """The first bytes of an open file."""
    try:
        return bytes(file.peek(_HEAD)[:_HEAD])  # type: ignore[attr-defined]
    except READ_ERRORS:  # reading the first line raises it again, with its number
        return b""


def _line_stream(file: IO[bytes], head: bytes) -> Iterator[bytes]:
    """The lines of an open file; UTF-16, with or without a BOM, becomes UTF-8."""
    if not (encoding := _wide_encoding(head)):
        return iter(partial(file.readline, LONGEST_LINE + 1), b"")
    text = io.TextIOWrapper(file, encoding=encoding, newline="\n")
    lines = enumerate(iter(partial(text.readline, LONGEST_LINE + 1), ""))
    return ((line if number else _XML_ENCODING.sub(r"\1", line)).encode("utf8") for number, line in lines)


def _wide_encoding(head: bytes) -> str:
    """UTF-16 or UTF-32, by the first bytes of a file; "" = neither."""
    if head[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return "utf-32"
    # text begins with an ASCII character, and has no NUL
    without_bom = {b"\0": "utf-16-be"}.get(head[:1], "utf-16-le" if head[1:2] == b"\0" else "")
    return "utf-16" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else without_bom


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
    """The text of a file in UTF-8 or UTF-16, plain or gzipped, with its line ends but without a BOM.

    Raises:
        PelError: if the file is missing, a damaged .gz, or not UTF-8.
    """
    with open_bytes(path) as file:
        try:
            content = file.read()
            check_format(path, content[:_HEAD])
            return str(content, _wide_encoding(content[:4]) or "utf8").removeprefix("\ufeff")
        except (UnicodeDecodeError, *READ_ERRORS) as err:
            raise _unreadable(path, err) from err


def _unreadable(place: PathLike, err: Exception) -> PelError:
    todo = "Download the file again."
    if isinstance(err, UnicodeDecodeError) and err.encoding == "utf-8":
        todo = "Convert it, e.g. from Windows-1252 or Latin-1 with: iconv -f WINDOWS-1252 -t UTF-8"
    return unexpected(place, "readable UTF-8 text", f"an error: {err}", todo)


def fingerprint(*parts: str | bytes | Path | Any) -> str:
    """A short, stable hash of contents.

    *parts: text, bytes, the path of a file (its content counts, not its name), or
        anything that JSON can hold.

    Returns:
        32 hexadecimal digits (BLAKE2b, 128 bits).
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, Path):
            _add_file(digest, part)
        elif isinstance(part, bytes):
            digest.update(part)
        else:
            text = part if isinstance(part, str) else json.dumps(part, sort_keys=True)
            digest.update(text.encode("utf8"))
        digest.update(b"\x1e")
    return digest.hexdigest()


def file_hash(file: Path) -> str:
    """The SHA-256 of a file's content."""
    digest = hashlib.sha256()
    _add_file(digest, file)
    return digest.hexdigest()


def _add_file(digest: Any, path: Path) -> None:
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
