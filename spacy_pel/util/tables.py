"""Reading the cells of tables, with errors that name the line."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError, quoted


def read_cells(
    path: Path, lines: Iterable[tuple[int, str]], *, delimiter: str = "\t", quotes: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Split the lines of a table into cells.

    Args:
        path: the file, for errors.
        lines: numbered lines without their ends.
        delimiter: between cells.
        quotes: quotation marks enclose cells, which may then hold delimiters, line ends and doubled
            quotation marks; False = they are ordinary characters.

    Yields:
        The number of the row's last line, and its cells; no empty lines.

    Raises:
        PelError: at a quotation mark that is never closed, or closed in another row: the rows between
            would be lost; names the line.
    """
    number = 0

    def numbered() -> Iterator[str]:
        nonlocal number
        for at, line in lines:
            number = at
            yield line + "\n"

    quoting: Any = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    try:
        for cells in csv.reader(numbered(), delimiter=delimiter, quoting=quoting, strict=True):
            swallowed = next((cell for cell in cells if "\n" in cell and delimiter in cell), None)
            if swallowed is not None and delimiter == "\t":
                raise PelError(_not_a_table(path, number, f"a cell with rows in it: {quoted(swallowed)}"))
            if cells:
                yield number, cells
    except csv.Error as err:
        raise PelError(_not_a_table(path, number, f"an error: {err}")) from err


def _not_a_table(path: Path, number: int, got: str) -> str:
    return Errors.E002.format(
        expected="a row of a table",
        path=f"{path}, line {number}",
        got=got,
        todo="Check the quotation marks of this line and those before it.",
    )
