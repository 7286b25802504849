"""Reading JSON, the cells of tables, and XML, with errors that name the line."""

import csv
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, pairwise, starmap
from pathlib import Path
from typing import IO, Any, TypeVar
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from ..errors import Errors, PelError, quoted
from .files import LONGEST_LINE, READ_ERRORS, PathLike, Place, read_lines, read_text, unexpected

Item = TypeVar("Item")
csv.field_size_limit(LONGEST_LINE)  # of the process; the default is 131,072 characters
Numbered = Iterator[tuple[int, dict[str, Any]]]
JSON_ERRORS = (ValueError, RecursionError)  # the latter: nested too deeply
# what data of another kind than a reader expects can raise in it
DATA_ERRORS = (*JSON_ERRORS, TypeError, AttributeError, LookupError, ArithmeticError, EOFError, csv.Error, zlib.error)
_LONG_NUMBER = 4  # digits, which ids have rather than values
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")  # the only way into JSON in UTF-8


def read_cells(
    path: Path, lines: Iterable[tuple[int, str]], *, delimiter: str = "\t", quotes: bool = True, texts: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Split the lines of a table into cells.

    Args:
        path: the file, for errors.
        lines: numbered lines without their ends.
        delimiter: between cells.
        quotes: quotation marks enclose cells, which may then hold delimiters, line ends and doubled
            quotation marks, or such after a backslash; False = they are ordinary characters.
        texts: cells hold whole texts, which may have line ends and delimiters of their own, and begin with blanks.

    Yields:
        The number of the row's last line, and its cells; no empty lines.

    Raises:
        PelError: at a quotation mark that is never closed, or closed in another row: the rows between
            would be lost; names the line.
    """
    first = number = width = 0  # lines of the row; cells of the header
    # as MySQL writes them: "the \"x\" of y"; not at the end of a cell, which a backslash may end
    escaped = re.compile(rf'\\"(?=[^"{re.escape(delimiter)}]|{re.escape(delimiter)} |"(?:{re.escape(delimiter)}|$))')

    def numbered() -> Iterator[str]:
        nonlocal first, number
        for at, line in lines:
            first, number = first or at, at
            yield (escaped.sub('""', line) if quotes and '\\"' in line else line) + "\n"

    def not_a_row(got: str) -> PelError:
        todo = "Check the quotation marks of this row: they enclose cells."
        return unexpected(Place(path, first), "a row of a table", got, todo)

    dialect: Any = {"quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE, "skipinitialspace": not texts}
    try:
        for cells in csv.reader(numbered(), delimiter=delimiter, strict=True, **dialect):
            width = width or len(cells)
            for at, cell in enumerate(cells if number > first else ()):
                if "\n" in cell and _holds_rows(cells, at, width, delimiter, texts=texts):
                    raise not_a_row(f"a cell with rows in it: {quoted(cell)}")
            if cells:
                yield number, cells
            first = 0
    except csv.Error as err:
        raise not_a_row(f"an error: {err}".replace("'\t'", "a tab")) from err


def _holds_rows(cells: list[str], at: int, width: int, delimiter: str, *, texts: bool) -> bool:
    """Whether quotation marks of a text, rather than of a cell, swallowed rows: the lines in the cell complete its own
    row, are rows, and begin another one. In a table of two columns, this may as well be a text with tabs, unless the
    other cells of these rows are ids like its own.

    Args:
        cells: of a row.
        at: the column, from 0, of a cell of several lines.
        width: number of columns.
        delimiter: between cells.
        texts: see ``read_cells``.
    """
    cell = cells[at]
    if delimiter == "\t" and not texts:
        return delimiter in cell  # nothing but a text has tabs
    # no blank follows a comma between cells, as in a sentence
    marks = [len(re.findall(rf"{re.escape(delimiter)}(?! )", line)) for line in cell.split("\n")]
    is_sure = not texts or (delimiter == "\t" and width > 2)
    if texts and width == len(cells) == 2:
        ids = [row.split(delimiter)[at - 1] for row in delimiter.join(cells).split("\n")]
        is_sure = all(starmap(_may_follow, pairwise(ids)))
    return is_sure and marks == [width - 1 - at, *[width - 1] * (len(marks) - 2), at]


def _may_follow(first: str, second: str) -> bool:
    """Whether two cells may be the ids of two rows in a row: "1" and "2", "note-9" and "note-10"."""
    if first.isdecimal() and second.isdecimal() and len(first) < _LONG_NUMBER:
        return int(second) == int(first) + 1
    shapes = {re.sub(r"\d+", "0", cell.strip()) for cell in (first, second)}
    return first != second and len(shapes) == 1 and "0" in shapes.pop()


def read_rows(
    path: Path, lines: Iterable[tuple[int, str]], kinds: Mapping[str, Collection[str]], *, skip_others: bool = False
) -> Iterator[tuple[str, Place, dict[str, str]]]:
    """Stream the rows of a published table, whose columns say what it holds: with tabs and without quotes, or with
    commas and quotes.

    Args:
        path: the file, for errors.
        lines: numbered lines without their ends.
        kinds: kind of table -> the columns that tell it from the others, by their plain names.
        skip_others: a file of another kind has no rows; otherwise it is an error.

    Yields:
        The kind of the table, and the cells of a row by the plain name of their column.

    Raises:
        PelError: if a row has more or fewer cells than the header.
    """
    lines = iter(lines)
    first = next(lines, (1, ""))
    delimiter = "\t" if "\t" in first[1] else ","
    rows = read_cells(path, chain([first], lines), delimiter=delimiter, quotes=delimiter == ",")
    names = list(map(plain, next(rows, (0, []))[1]))
    kind = next((kind for kind, columns in kinds.items() if set(columns) <= set(names)), None)
    if kind is None:
        if skip_others:
            return
        known = "; ".join(f"{kind} ({', '.join(columns)})" for kind, columns in kinds.items())
        raise unexpected(Place(path, 1), f"columns of {known}", quoted(first[1]), "Pass another file.")
    for number, cells in rows:
        place = Place(path, number)
        if len(cells) != len(names):
            raise unexpected(place, f"{len(names)} cells as in the header", f"{len(cells)}: {quoted(cells)}")
        yield kind, place, dict(zip(names, cells, strict=True))


def plain(name: str) -> str:
    """A name of a column in lower case, with "_" between its words."""
    return re.sub(r"[\W_]+", "_", _CAMEL_CASE.sub("_", name)).strip("_").lower()


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
    """Stream what a reader gives; what unexpected data raises in it becomes an error that names the files.

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
        raise PelError(Errors.E012.format(reader=reader, place=", ".join(map(str, paths)))) from err


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
    return (record for _, record in numbered_jsonl(path))


def numbered_jsonl(path: PathLike, file: IO[bytes] | None = None) -> Numbered:
    """Stream the objects of a JSON lines file, plain or gzipped; or of one JSON array, which is read as a whole.

    Args:
        path: the file.
        file: its open content, unpacked; None = it is opened here.

    Yields:
        The number of the line, or of the item of the array, from 1, and its object.

    Raises:
        PelError: as ``read_lines``, and at a line that is not a JSON object or holds a lone surrogate;
            names the line.
    """
    return json_objects(path, read_lines(path, file), check=True)


def json_objects(path: PathLike, lines: Iterator[tuple[int, str]], *, check: bool = False) -> Numbered:
    """As ``numbered_jsonl``, of the numbered lines of a file.

    Args:
        path: of the file, for errors.
        lines: its lines.
        check: a lone surrogate is an error; False = it is read.
    """
    full = ((number, line) for number, line in lines if line.strip())
    for at_line, (number, line) in enumerate(full):
        if not at_line and line.lstrip().startswith("["):
            try:
                items = json.loads("\n".join([line, *(more for _, more in full)]))
            except JSON_ERRORS as err:
                raise unexpected(path, "a JSON object a line", f"an array that is invalid JSON ({err})") from err
            for at, item in enumerate(items, start=1):
                place = f"{path}, item {at}"
                if not isinstance(item, dict):
                    raise unexpected(place, "a JSON object", quoted(item), "Write one object a line.")
                if check:
                    check_unicode(item, place)
                yield at, item
        else:
            record = json_object(line, place := f"{path}, line {number}")
            if check and _ESCAPED_SURROGATE.search(line):
                check_unicode(record, place)
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


def read_elements(
    path: Path, chunks: Iterable[tuple[Place, bytes]], *, expected: str
) -> Iterator[tuple[Place, Element, Element]]:
    """Stream the children of the root; memory holds one at a time.

    Args:
        path: the file, for errors before its first chunk.
        chunks: its content, e.g. line by line.
        expected: the kind of XML, for the error.

    Yields:
        The place of the chunk in which the child ends, the root without
        its children, and the child.

    Raises:
        PelError: if the XML is broken or cut off.
    """
    parser: Any = XMLPullParser(events=("start", "end"))
    place: Place | None = None
    root: Element | None = None
    depth = 0
    end: tuple[Place | None, bytes] = (None, b"")
    try:
        for current, chunk in chain(chunks, [end]):
            place = current or place
            if chunk:
                parser.feed(chunk)
            elif place is not None:
                parser.close()  # the parser may hold back the end of the file until it is closed
            for event, element in parser.read_events():
                root = element if root is None else root
                depth += 1 if event == "start" else -1
                if event == "end" and depth == 1 and place is not None:
                    yield place, root, element
                    del root[:]  # yielded elements must not accumulate below the root
    # LookupError, ValueError: its declaration names an encoding that is unknown, or of several bytes
    except (ParseError, LookupError, ValueError, *READ_ERRORS) as err:
        if isinstance(err, PelError):
            raise
        raise unexpected(place or path, expected, f"malformed XML ({err})", "Download the file again.") from err
