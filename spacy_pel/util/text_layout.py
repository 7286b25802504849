"""Plain text for people: aligned columns, and excerpts that cut no word."""

import re
import textwrap
from collections.abc import Sequence

from ..errors import one_line

EMPTY = "–"
_LONGEST = 32  # characters of a cell
_SENTENCE = 200  # characters
_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], *, longest: int = _LONGEST) -> list[str]:
    """Lay out a table of texts. Columns that are empty in all rows are left out.

    Args:
        head: the titles of the columns.
        rows: the cells; EMPTY or "" = empty.
        longest: characters of a cell; longer ones are cut.

    Returns:
        The lines, the titles first.
    """
    columns = [n for n in range(len(head)) if any(row[n] not in (EMPTY, "") for row in rows)]
    lines = [[_cut(cells[n], longest) for n in columns] for cells in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _cut(text: str, longest: int) -> str:
    text = " ".join(one_line(text).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_sentence(text: str) -> str:
    """The first sentence of a definition in one line, cut between words after 200 characters."""
    return textwrap.shorten(_END.split(one_line(text).strip(), 1)[0], _SENTENCE, placeholder=" …")


def words_around(text: str, start: int, end: int, reach: int) -> tuple[int, int]:
    """Choose an excerpt that cuts no word. Only where one side is a single long word is it cut.

    Args:
        text: the text.
        start, end: what the excerpt is about.
        reach: characters to each side, at most.

    Returns:
        Offsets of the excerpt.
    """
    left, right = max(0, start - reach), min(len(text), end + reach)
    if left and (blank := re.search(r"\s", text[left - 1 : start])):
        left += blank.start()
    if right < len(text):
        blanks = [match.start() for match in re.finditer(r"\s", text[end : right + 1])]
        right = end + blanks[-1] if blanks else right
    return left, right
