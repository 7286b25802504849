"""Terms of tables, one term or one part of a term per line."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ....errors import Errors, PelError, quoted
from ....util import read_lines
from ....util.files import read_cells
from .term import Term

FIELDS = ("id", "name", "synonyms", "definition", "xrefs")


def read_table(
    path: Path,
    *,
    columns: Sequence[str | None],
    header: bool = True,
    delimiter: str = "\t",
    separator: str = "|",
    id_prefix: str = "",
) -> Iterator[Term]:
    """Stream the lines of a table; several lines may describe the same term.

    Args:
        path: the file, plain or gzipped.
        columns: what each column holds: "id", "name", "synonyms",
            "definition", "xrefs", or None (ignored).
        header: the first line holds column names and is skipped.
        delimiter: between columns.
        separator: between several synonyms or xrefs of a cell.
        id_prefix: prepended to ids that lack it, e.g. "MESH:".

    Yields:
        One per line.

    Raises:
        PelError: for a column of unknown meaning and at a line with too few columns; names the line.
    """
    unknown = [name for name in columns if name is not None and name not in FIELDS]
    if unknown or "id" not in columns:
        raise PelError(Errors.E141.format(path=path, got=list(columns), known=", ".join(FIELDS)))
    position = {name: place for place, name in enumerate(columns) if name is not None}
    needed = max(position.values()) + 1
    # plain exports do not escape quotation marks
    rows = read_cells(path, read_lines(path), delimiter=delimiter, quotes=header)
    if header:
        next(rows, None)
    for number, row in rows:
        if len(row) < needed or not row[position["id"]]:
            raise PelError(
                Errors.E002.format(
                    expected=f"an id and {needed} columns",
                    path=f"{path}, line {number}",
                    got=f"{len(row)}: {quoted(row)}",
                    todo="Fix the line, or change the setting 'columns'.",
                )
            )
        term = _term(row, position, separator, id_prefix)
        term.line = number
        yield term


def _term(row: list[str], position: "dict[str, int]", separator: str, id_prefix: str) -> Term:
    def cell(name: str) -> str:
        return row[position[name]].strip() if name in position else ""

    def cells(name: str) -> list[str]:
        return [part.strip() for part in cell(name).split(separator) if part.strip()]

    term_id = cell("id")
    return Term(
        id=term_id if term_id.startswith(id_prefix) else id_prefix + term_id,
        name=cell("name"),
        synonyms=[(text, "exact") for text in cells("synonyms")],
        definition=cell("definition") or None,
        xrefs=cells("xrefs"),
    )
