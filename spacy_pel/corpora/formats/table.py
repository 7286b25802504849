"""CSV and TSV: any table is read as the objects of JSON lines; a row is written for each linked mention."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from itertools import chain, dropwhile
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace
from typing import IO, Any

from ...errors import quoted
from ...util.files import Place, ending_of, read_lines, unexpected
from ...util.parsing import read_cells
from ...util.writing import write_text
from .parquet import unique_names


def open_table(
    path: Path, column: str, file: IO[bytes] | None = None
) -> tuple[list[str], Iterator[tuple[int, dict[str, str]]]]:
    r"""Open a table with quoted cells, as spreadsheets and pandas write it. Line ends within a cell stay what they are.

    Args:
        path: the file, plain or gzipped.
        column: one that the header should have. The delimiter is the comma (or the tab, if the file's name ends in
            .tsv), semicolon, tab or bar that makes it a column.
        file: its open content, unpacked; None = it is opened here.

    Returns:
        The names of the columns, none of an empty file; and an iterator of the rows: the number of a row's last line,
        and its cells by column. A column without a name is called "column_3", and is there if its cell is not
        empty; the second column of a name is called "name_2".

    Raises:
        PelError: if the file is missing or not UTF-8; while reading, if a row has more or fewer cells than the header,
            or a quotation mark is not closed. Names the line.
    """
    # Excel takes the delimiter from a first line such as "sep=;"
    lines = dropwhile(lambda line: line[1].strip()[:4] in ("", "sep="), read_lines(path, file, line_ends="\n"))
    first = next(lines, (0, ""))
    delimiter = _delimiter(path, first[1], column)
    cells = read_cells(path, chain([first], lines), delimiter=delimiter, texts=True)
    _, header = next(cells, (0, [])) if first[0] else (0, [])
    header = [name.strip() for name in header]
    names = unique_names(header)

    def rows() -> Iterator[tuple[int, dict[str, str]]]:
        for line, row in cells:
            if len(row) < len(names) or any(row[len(names) :]):
                expected, got = f"{len(names)} cells, as in the header", f"{len(row)}: {quoted(row)}"
                raise unexpected(Place(path, line), expected, got, "Put quotation marks around texts.")
            if delimiter == "\t" and any(_holds_rows(cell, at, len(names)) for at, cell in enumerate(row)):
                todo = "Check the quotation marks of the rows before it: they enclose cells."
                raise unexpected(Place(path, line), "a row of a table", "a cell with rows in it", todo)
            named = zip(names, header, row, strict=False)
            yield line, {name: cell for name, plain, cell in named if plain or cell}

    return names, rows()


def _holds_rows(cell: str, at: int, width: int) -> bool:
    """Whether quotation marks of a text, rather than of a cell, swallowed rows. In a table of two columns, this may
    as well be a text with tabs.

    Args:
        cell: a cell.
        at: its column, from 0.
        width: number of columns.
    """
    tabs = [line.count("\t") for line in cell.split("\n")]
    return width > 2 and len(tabs) > 1 and tabs == [width - 1 - at, *[width - 1] * (len(tabs) - 2), at]


def _delimiter(path: Path, line: str, column: str) -> str:
    """The one that makes this name a column of the header, and most columns."""

    def names(delimiter: str) -> list[str]:
        return [name.strip().lower() for name in next(csv.reader([line], delimiter=delimiter), [])]

    delimiters = ("\t" if ending_of(path) == ".tsv" else ",", *",;\t|")
    return max(delimiters, key=lambda one: (column.lower() in names(one), len(names(one))))


# keys of the mention
_COLUMNS = {
    "start": "start",
    "end": "end",
    "text": "text",
    "label": "label",
    "id": "kb_id",
    "name": "name",
    "p_right": "probability",
    "p_nil": "nil_score",
}


def write_table(path: Path, records: Iterable[dict[str, Any]], *, codes: Sequence[str] = ()) -> None:
    """Write linked documents as CSV or TSV, a row for each mention, atomically; gzipped if the name ends in .gz.

    The columns are "document" (the document's id), "start", "end", "text", "label", "id" (or NIL, or empty if the
    linker did not look at the mention), "name", "p_right" and "p_nil"; those of ``codes``, several codes joined by
    a bar; and the keys of the documents' "meta", with "meta_" before those that are the name of such a column.

    Args:
        path: the file; TSV if its name ends in .tsv or .tsv.gz.
        records: lines of ``link``: "id", "mentions" and "meta".
        codes: keys of a mention's "codes".

    Raises:
        PelError: if the file cannot be written.
    """
    # the header names the keys of all documents: they are stored until it is known
    with write_text(path) as file, TemporaryFile("w+", encoding="utf8", dir=path.parent) as stored:
        keys: dict[str, None] = {}
        for record in records:
            keys |= dict.fromkeys(record.get("meta") or {})
            if record["mentions"]:
                kept = {key: record.get(key) for key in ("id", "mentions", "meta")}
                stored.write(json.dumps(kept) + "\n")
        stored.seek(0)
        delimiter = "\t" if ending_of(path) == ".tsv" else ","
        write_rows(file, map(json.loads, stored), keys=keys, codes=codes, delimiter=delimiter)


def write_rows(
    file: IO[str], records: Iterable[dict[str, Any]], *, keys: Iterable[str], codes: Sequence[str], delimiter: str
) -> None:
    """Write the header and the rows of a table, see ``write_table``.

    Args:
        file: open for writing.
        records: linked documents.
        keys: those of the "meta" of all documents of the table.
        codes: keys of a mention's "codes".
        delimiter: between cells.
    """
    write = row_writer(file, delimiter)
    keys, own = list(keys), ["document", *_COLUMNS, *codes]
    header = [*own, *keys]
    for at, key in enumerate(keys, start=len(own)):
        while header.count(key) > 1:
            key = header[at] = f"meta_{key}"
    write(header)
    for record in records:
        meta = record.get("meta") or {}
        others = [_cell(meta.get(key)) for key in keys]
        for mention in record["mentions"]:
            cells = [_cell(mention.get(key)) for key in _COLUMNS.values()]
            cells += ["|".join(mention.get("codes", {}).get(vocabulary, ())) for vocabulary in codes]
            write([record["id"], *cells, *others])


def row_writer(file: IO[str], delimiter: str) -> Callable[[Iterable[Any]], object]:
    """A function that writes a row, with quotation marks around cells with line ends of any kind."""
    # csv quotes a cell with a CR only where rows end in CR LF
    lines: Any = SimpleNamespace(write=lambda line: file.write(line.removesuffix("\r\n") + "\n"))
    return csv.writer(lines, delimiter=delimiter, lineterminator="\r\n").writerow


def table_text(records: Sequence[dict[str, Any]], *, codes: Sequence[str] = (), delimiter: str = ",") -> str:
    """The table of linked documents as text, see ``write_rows``."""
    file = StringIO()
    keys = dict.fromkeys(key for record in records for key in record.get("meta") or {})
    write_rows(file, records, keys=keys, codes=codes, delimiter=delimiter)
    return file.getvalue()


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
