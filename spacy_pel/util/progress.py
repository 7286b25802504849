"""One progress bar for all long tasks: count, rate and remaining time, on stderr."""

import sys
from typing import Iterable, Iterator, Optional, TypeVar

T = TypeVar("T")


def progress(
    items: Iterable[T], *, description: str, total: Optional[int] = None, show: bool = True, start: int = 0
) -> Iterator[T]:
    """Iterate with a progress bar (tqdm; one plain line every 10 s when stderr is a file).

    items (Iterable[T]): what to iterate.
    description (str): what is being done.
    total (Optional[int]): how many there are, if known.
    show (bool): False = stay silent.
    start (int): how many were done before; ``total`` counts them.
    YIELDS (T): the items.
    """
    from tqdm import tqdm

    interval = 0.5 if sys.stderr.isatty() else 10.0
    yield from tqdm(
        items,
        desc=description,
        total=total,
        initial=start,
        disable=not show,
        mininterval=interval,
        file=sys.stderr,
    )
