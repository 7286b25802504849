"""One progress bar for all long tasks: count, rate and remaining time, on stderr."""

import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
_DELAY = 1.0  # seconds; what takes less has no bar
# the bar of the chunk that is being worked on, its count before the chunk, and the items of the chunk
_chunk: ContextVar[tuple[Any, int, int] | None] = ContextVar("chunk", default=None)


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
        token = _chunk.set((self._bar, before, n))
        try:
            yield
        finally:
            _chunk.reset(token)
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
    chunk = _chunk.get()
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
