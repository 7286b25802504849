"""Tables of a release whose columns say what they hold: SNOMED CT (RF2) and LOINC."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from ...errors import quoted
from ...util.tables import read_cells
from .column_names import plain
from .place import Place, unexpected
from .reader_base import KBReaderBase

Row = dict[str, str]  # cells by the plain name of their column


def release_rows(
    reader: KBReaderBase, path: Path, kinds: Mapping[str, Sequence[str]], *, skip_others: bool = False
) -> Iterator[tuple[str, Place, Row]]:
    """Stream the rows of one file: with tabs and without quotes, or with commas and quotes.

    Args:
        reader: reads the lines.
        path: the file.
        kinds: kind of table -> the columns that tell it from the others.
        skip_others: a file of another kind has no rows; otherwise it is an error.

    Yields:
        The kind of the table, and a row.

    Raises:
        PelError: if a row has more or fewer cells than the header.
    """
    lines = ((place.line, line) for place, line in reader.lines(path))
    first = next(lines, (1, ""))
    delimiter = "\t" if "\t" in first[1] else ","
    rows = read_cells(path, chain([first], lines), delimiter=delimiter, quotes=delimiter == ",")
    names = [plain(name) for name in next(rows, (0, []))[1]]
    kind = next((kind for kind, columns in kinds.items() if set(columns) <= set(names)), None)
    if kind is None:
        if skip_others:
            return
        known = "; ".join(f"{kind} ({', '.join(columns)})" for kind, columns in kinds.items())
        raise unexpected(Place(path, 1), f"columns of {known}", quoted(first[1]), "Pass another file.")
    for number, cells in rows:
        if len(cells) != len(names):
            expected, got = f"{len(names)} cells as in the header", f"{len(cells)}: {quoted(cells)}"
            raise unexpected(Place(path, number), expected, got)
        yield kind, Place(path, number), dict(zip(names, cells, strict=True))
