"""What people see: messages, progress bars, aligned columns and excerpts."""

import logging
import os
import re
import sys
import textwrap
from collections.abc import Generator, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Any, TypeVar

from ..errors import one_line

logger = logging.getLogger("spacy_pel")  # without a NullHandler, which would hide its warnings


@contextmanager
def without_warnings(*codes: str) -> Iterator[None]:
    """Do not log some warnings within this context, e.g. that something is missing which is about to be made.

    Args:
        codes: e.g. "W506".
    """

    def is_other(record: logging.LogRecord) -> bool:
        return not any(f"[PEL-{code}]" in record.getMessage() for code in codes)

    logger.addFilter(is_other)
    try:
        yield
    finally:
        logger.removeFilter(is_other)


def now() -> str:
    """The time in UTC, to the second."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")  # of reproducible builds: the time to write, in seconds
    moment = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch.isdecimal() else datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


_SHARE = re.compile(r"(?:\w+[ _.])?(?:accuracy|recall|precision|f1|aupr|ece|mrr|share|coverage)(?:[ _@]\w+)*(?:@\d+)?")


def is_share(name: str) -> bool:
    """Whether a number of this name, such as "recall@1" or "nil_f1", is a share. Files hold shares from 0 to 1; people
    read them in percent."""
    return _SHARE.fullmatch(name) is not None


def percent(share: float | None) -> str:
    """A share as people read it; None = unknown."""
    return "–" if share is None else f"{100 * share:.1f}%"


T = TypeVar("T")
_DELAY = 1.0  # seconds; what takes less has no bar


def progress(
    items: Iterable[T], *, description: str, total: int | None = None, show: bool = True
) -> Generator[T, None, None]:
    """Iterate with a progress bar.

    Args:
        items: what to iterate.
        description: what is being done.
        total: how many there are, if known.
        show: False = stay silent.

    Yields:
        The items.
    """
    yield from progress_bar(description, len(items) if isinstance(items, Sized) else total, show=show, items=items)


def progress_bar(
    description: str, total: int | None = None, *, show: bool = True, items: Iterable[Any] | None = None
) -> Any:
    """A bar of tqdm on stderr, one plain line every 10 s where that is a file. Without items to iterate, it is a
    context whose ``update(n)`` counts what is done.

    Args:
        description: what is being done.
        total: how many items there are, if known; without any there is no bar.
        show: False = stay silent.
        items: what to iterate.
    """
    from tqdm import tqdm

    pace: Any = {"mininterval": 0.5 if sys.stderr.isatty() else 10.0, "delay": _DELAY}
    pace["miniters"] = 1 if items is None else None  # steps differ: look at the clock each time
    return tqdm(items, desc=description, total=total, disable=not show or total == 0, file=sys.stderr, **pace)


EMPTY = "–"
_LONGEST = 32  # characters of a cell
_SENTENCE = 200  # characters
_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out a table of texts. Columns that are empty in all rows are left out; long cells are cut.

    Args:
        head: the titles of the columns.
        rows: the cells; EMPTY or "" = empty.

    Returns:
        The lines, the titles first.
    """
    columns = [n for n in range(len(head)) if any(row[n] not in (EMPTY, "") for row in rows)]
    lines = [[_cut(cells[n]) for n in columns] for cells in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _cut(text: str) -> str:
    text = " ".join(one_line(text).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


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
