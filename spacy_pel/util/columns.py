"""Plain text in aligned columns."""

from collections.abc import Sequence

from ..errors import one_line

EMPTY = "–"
_LONGEST = 32  # characters of a cell


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], *, longest: int = _LONGEST) -> list[str]:
    """Lay out a table of texts. Columns that are empty in all rows are left out.

    Args:
        head: the titles of the columns.
        rows: the cells; EMPTY or "" = empty.
        longest: characters of a cell; longer ones are cut.

    Returns:
        The lines, the titles first.
    """
    kept = [n for n in range(len(head)) if any(row[n] not in (EMPTY, "") for row in rows)]
    cells = [[_cut(line[n], longest) for n in kept] for line in (head, *rows)]
    widths = [max(len(line[n]) for line in cells) for n in range(len(kept))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cut(text: str, longest: int) -> str:
    text = " ".join(one_line(text).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
