"""The best reading of a text, where mentions overlap."""

from collections.abc import Sequence
from typing import NamedTuple


class Mention(NamedTuple):
    """A possible mention.

    Attributes:
        start, end: its characters in the text, end exclusive.
        first, last: its words in the text, ``last`` exclusive.
        n_marks: what makes it less likely: commas and the like within it, another number.
    """

    start: int
    end: int
    first: int
    last: int
    n_marks: int = 0


def best_reading(mentions: Sequence[Mention], n_words: int) -> list[Mention]:
    """Choose mentions that do not overlap and cover the most words. Of two such readings the one with longer
    mentions counts, then the one with fewer marks within them, then the one that begins earlier.

    Args:
        mentions: of two with the same words, the first one counts.
        n_words: in the text.

    Returns:
        In order.
    """
    by_last: dict[int, list[Mention]] = {}
    for mention in mentions:
        by_last.setdefault(mention.last, []).append(mention)
    values: list[tuple[int, int, int]] = [(0, 0, 0)]  # of the best reading of the first words
    chosen: list[Mention | None] = [None]
    for last in range(1, n_words + 1):
        values.append(values[-1])
        chosen.append(None)
        for mention in by_last.get(last, ()):
            covered, squares, marks = values[mention.first]
            n = last - mention.first
            value = (covered + n, squares + n * n, marks - mention.n_marks)
            if value > values[last]:
                values[last], chosen[last] = value, mention
    reading: list[Mention] = []
    end = n_words
    while end:
        best = chosen[end]
        if best is not None:
            reading.append(best)
        end = end - 1 if best is None else best.first
    return reading[::-1]
