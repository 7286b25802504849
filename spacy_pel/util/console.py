"""What people see: messages, progress bars, aligned columns and excerpts."""

import logging
import os
import re
import sys
import textwrap
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timezone
from typing import Any, TypeVar

from ..errors import one_line

logger = logging.getLogger("spacy_pel")  # without a NullHandler, which would hide its warnings
_EPOCH = "SOURCE_DATE_EPOCH"  # environment variable of reproducible builds: the time to write, in seconds


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
    epoch = os.environ.get(_EPOCH, "")
    moment = datetime.fromtimestamp(int(epoch), timezone.utc) if epoch.isdigit() else datetime.now(timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


T = TypeVar("T")
_DELAY = 1.0  # seconds; what takes less has no bar
# the bar of the chunk that is being worked on, its count before the chunk, and the items of the chunk
CHUNK: ContextVar[tuple[Any, int, int] | None] = ContextVar("chunk", default=None)


def progress(
    items: Iterable[T],
    *,
    description: str,
    total: int | None = None,
    show: bool = True,
    start: int = 0,
    warm_up: int = 0,
) -> Generator[T, None, None]:
    """Iterate with a progress bar (tqdm; one plain line every 10 s when stderr is a file).

    Args:
        items: what to iterate.
        description: what is being done.
        total: how many there are, if known.
        show: False = stay silent.
        start: how many were done before; ``total`` counts them.
        warm_up: the rate is measured after this many items, e.g. the first batch, which arrives late as
            workers have to start.

    Yields:
        The items.
    """
    bar = _bar(items, description, total, show, start)
    if not warm_up or bar.disable:
        yield from bar
        return
    with bar:
        for number, item in enumerate(items):
            if number in (0, warm_up):
                bar.initial = bar.n
                bar.unpause()  # the clock starts now
            yield item
            bar.update()


class ChunkProgress:
    """A progress bar for items that are read chunk by chunk: it counts those whose work is done, not those
    that were read. Within a chunk it advances with ``report_parts``.

    Args:
        description: what is being done.
        total: how many items there are, if known; without any there is no bar.
        show: False = stay silent.
    """

    def __init__(self, *, description: str, total: int | None = None, show: bool = True):
        self._bar = _bar(None, description, total, show, 0)

    def __enter__(self) -> "ChunkProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    @contextmanager
    def chunk(self, n: int) -> Iterator[None]:
        """Work on the next items within this context.

        Args:
            n: how many.
        """
        if self._bar.disable:
            yield
            return
        before = self._bar.n
        token = CHUNK.set((self._bar, before, n))
        try:
            yield
        finally:
            CHUNK.reset(token)
        self.advance(before + n - self._bar.n)

    def advance(self, n: int) -> None:
        """The work on the next items is done.

        Args:
            n: how many.
        """
        self._bar.update(n)


def report_parts(parts: Iterable[T], costs: Sequence[float]) -> Iterator[T]:
    """Iterate over the parts of the work on a chunk, and advance the bar of its ``ChunkProgress``, if any.

    Args:
        parts: the finished parts.
        costs: time that each one takes, in any unit.

    Yields:
        The parts.
    """
    chunk = CHUNK.get()
    if chunk is None:
        yield from parts
        return
    bar, before, n = chunk
    done, whole = 0.0, sum(costs) or 1.0
    for part, cost in zip(parts, costs, strict=True):
        done += cost
        # a chunk may have its work done in several calls: never back
        bar.update(max(0, before + int(n * min(1.0, done / whole)) - bar.n))
        yield part


def _bar(items: Iterable[T] | None, description: str, total: int | None, show: bool, start: int) -> Any:
    from tqdm import tqdm

    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    pace: Any = {"mininterval": 0.5 if sys.stderr.isatty() else 10.0, "delay": _DELAY}
    pace["miniters"] = 1 if items is None else None  # chunks differ: look at the clock each time
    is_hidden = not show or total == 0
    return tqdm(items, desc=description, total=total, initial=start, disable=is_hidden, file=sys.stderr, **pace)


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
