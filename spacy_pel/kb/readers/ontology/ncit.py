"""Terms of the NCI Thesaurus as a flat file (Thesaurus.txt): tab-separated, without a header."""

from collections.abc import Iterator
from pathlib import Path

from ....errors import Errors, PelError, quoted
from ....util import read_lines
from .owl import NCIT_RETIRED
from .term import Term

_N_CELLS = 8  # code, IRI, parents, synonyms, definition, display name, status, semantic types; newer files have more


def read_ncit_table(path: Path) -> Iterator[Term]:
    """Stream the concepts; the first synonym is the preferred name.

    Args:
        path: the file, plain or gzipped.

    Yields:
        In file order, retired ones included.

    Raises:
        PelError: at a line that is not of this format.
    """
    for number, line in read_lines(path):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) < _N_CELLS or not cells[1].strip("<>").endswith(f"#{cells[0]}"):
            raise PelError(
                Errors.E002.format(
                    expected="the NCI Thesaurus as a flat file",
                    path=f"{path}, line {number}",
                    got=quoted(line[:60]),
                    todo="Check the file, or choose another reader.",
                )
            )
        names = _parts(cells[3])
        yield Term(
            id=cells[0],
            name=names[0] if names else cells[5],
            synonyms=[(name, "exact") for name in (*names[1:], cells[5]) if name],
            definition=cells[4] or None,
            types=_parts(cells[7]),
            obsolete=not NCIT_RETIRED.isdisjoint(_parts(cells[6])),
            namespace="NCIt",
            line=number,
        )


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split("|") if part.strip()]
