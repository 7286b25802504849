"""One progress bar for all long tasks: count, rate and remaining time, on stderr."""

import sys
from typing import Iterable, Iterator, Optional, TypeVar

T = TypeVar("T")


def progress(
    items: Iterable[T],
    *,
    description: str,
    total: Optional[int] = None,
    show: bool = True,
    start: int = 0,
    warm_up: int = 0,
) -> Iterator[T]:
    """Iterate with a progress bar (tqdm; one plain line every 10 s when stderr is a file).

    items (Iterable[T]): what to iterate.
    description (str): what is being done.
    total (Optional[int]): how many there are, if known.
    show (bool): False = stay silent.
    start (int): how many were done before; ``total`` counts them.
    warm_up (int): the rate is measured after this many items, e.g. the first batch, which arrives late as
        workers have to start.
    YIELDS (T): the items.
    """
    from tqdm import tqdm

    interval = 0.5 if sys.stderr.isatty() else 10.0
    bar = tqdm(
        items,
        desc=description,
        total=total,
        initial=start,
        disable=not show,
        mininterval=interval,
        file=sys.stderr,
    )
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
