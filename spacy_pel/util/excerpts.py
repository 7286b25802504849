"""Excerpts of a text."""

import re


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
        blanks = [one.start() for one in re.finditer(r"\s", text[end : right + 1])]
        right = end + blanks[-1] if blanks else right
    return left, right
