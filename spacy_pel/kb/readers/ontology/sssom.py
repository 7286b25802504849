"""Pairs of a mapping table in the SSSOM format."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ....errors import Errors, PelError, quoted
from ....util import read_lines
from ....util.files import read_cells


class Mapping(NamedTuple):
    """One line of a mapping table; the label is "" if the table has none."""

    subject_id: str
    object_id: str
    subject_label: str


_NEEDED = ("subject_id", "predicate_id", "object_id")
_LABEL = "subject_label"


def read_sssom(path: Path, *, predicates: Sequence[str] = ("skos:exactMatch",)) -> Iterator[Mapping]:
    """Stream the pairs of an SSSOM table.

    Args:
        path: the file, plain or gzipped; lines that begin with # are its header.
        predicates: the relations that count.

    Yields:
        Subject, object and the subject's label.

    Raises:
        PelError: if a needed column is missing or is there twice, and at a row with other columns than
            the header or without CURIEs; names the line.
    """
    lines = ((number, line) for number, line in read_lines(path) if not line.startswith("#"))
    rows = read_cells(path, lines)
    number, header = next(rows, (1, []))
    if any(header.count(name) != 1 for name in _NEEDED) or header.count(_LABEL) > 1:
        raise _unexpected(
            path, number, f"an SSSOM table with the columns {', '.join(_NEEDED)}, each once", quoted(header)
        )
    subject, predicate, target = map(header.index, _NEEDED)
    label = header.index(_LABEL) if _LABEL in header else None
    for number, cells in rows:
        if len(cells) != len(header):
            raise _unexpected(path, number, f"{len(header)} cells as in the header", f"{len(cells)}")
        if cells[predicate] not in predicates:
            continue
        for curie in (cells[subject], cells[target]):
            prefix, _, identifier = curie.partition(":")
            if not prefix or not identifier or not curie.isprintable():
                raise _unexpected(path, number, "ids as PREFIX:ID", quoted(curie))
        yield Mapping(cells[subject], cells[target], "" if label is None else cells[label])


def _unexpected(path: Path, number: int, expected: str, got: str) -> PelError:
    place = f"{path}, line {number}"
    return PelError(Errors.E002.format(expected=expected, path=place, got=got, todo="Check the file."))
