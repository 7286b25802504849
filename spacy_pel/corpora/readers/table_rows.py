"""Tables with a header line, CSV and TSV, as the objects of JSON lines."""

import csv
from collections.abc import Iterator
from itertools import chain, dropwhile
from pathlib import Path
from typing import IO

from ...errors import quoted
from ...util.files import Place, ending_of, read_lines, unexpected
from ...util.parsing import read_cells
from .parquet_rows import unique_names


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
