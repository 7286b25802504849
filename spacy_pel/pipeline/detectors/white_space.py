"""White space between the words of a text: hard-wrapped lines, no-break spaces, paragraphs, lists."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from spacy.tokens import Doc, Token

_NARROWEST = 40  # characters; text is hardly ever wrapped to shorter lines
_CAPITALISED = re.compile(r"\s*(?:[A-Z][a-z]{2}|[A-Z][A-Za-z /&-]*:)")  # "Hypertension", "ALLERGIES:"
# what begins an item: "-", "2.", "(3)", "#4", "[x]", "b)", "ii."; not "E." of "E. coli"
_MARK = re.compile(
    r"[^\S\n]*(?:\d{1,2}[.)](?=[A-Za-z])"
    r"|(?:[-–—*+·•●▪◦‣>]|\[[ xX]?\]|\(?(?:\d{1,2}|[a-z])\)|\d{1,2}\.|#\d{0,2}|i{1,3}\.)(?=\s))"
)
_NUMBERED = re.compile(r"(?<!\S)\(?(\d{1,2})[.)](?=\s|[A-Za-z])")  # "1." in "1. asthma 2. gout"
_FIRST = re.compile(r"[:;\n]\s*$|^\s*$")
_NEAR = 5  # characters


def has_blank_line(text: str) -> bool:
    """Whether there is a line without words between two lines of a text."""
    return any(not line.strip() for line in f"x{text}x".splitlines())


class Breaks(NamedTuple):
    """Tokens at which the items of a list, the lines of a note or the words of a text end, or do not.

    Attributes:
        certain: no mention crosses them: blank lines, tabs and bars, what marks an item at the start of a
            line ("-" or "2.") or in a numbered list, and line breaks before a capitalised word or a heading.
        likely: other line breaks where text does not seem to be wrapped, as the line is very short or
            the next word would have fitted on it.
        within_word: tokens that begin between two letters of a word.
    """

    certain: set[int]
    likely: set[int]
    within_word: set[int]


def breaks_of(doc: Doc) -> Breaks:
    """Of a document."""
    breaks = Breaks(set(), set(), set())
    lines = doc.text.splitlines(keepends=True)
    ends = list(accumulate(map(len, lines)))
    marks = [False] * len(doc.text)
    for start, end in _marks(doc.text):
        marks[start:end] = [True] * (end - start)
    before: Token | None = None
    for token in doc:
        if before is not None and not before.whitespace_ and before.text[-1:].isalpha() and token.text[:1].isalpha():
            breaks.within_word.add(token.i)
        before = token
        if not token.is_space:
            if token.text == "|" or all(marks[token.idx : token.idx + len(token)]):
                breaks.certain.add(token.i)
        elif token.text.strip(" \xa0") == "\t":  # a column of a table
            breaks.certain.add(token.i)
        elif token.idx + len(token) >= ends[line := bisect_right(ends, token.idx)]:
            following = "".join(lines[line + 1 : line + 2])
            if has_blank_line(token.text) or _CAPITALISED.match(following) or _MARK.match(following):
                breaks.certain.add(token.i)
            elif not _is_wrapped(lines, line):
                breaks.likely.add(token.i)
    return breaks


def _marks(text: str) -> Iterator[tuple[int, int]]:
    """What marks the items of lists: bullets and numbers at the start of a line, and numbers from 1 on within
    one."""
    start = 0
    for line in text.splitlines(keepends=True):
        if (mark := _MARK.match(line)) is not None:
            yield start, start + mark.end()
        start += len(line)
    items: list[re.Match[str]] = []
    for item in _NUMBERED.finditer(text):
        if int(item[1]) == len(items) + 1 and (
            items or _FIRST.search(text[max(0, item.start() - _NEAR) : item.start()])
        ):
            items.append(item)
    if len(items) > 1:
        yield from (item.span() for item in items)


def _is_wrapped(lines: Sequence[str], number: int) -> bool:
    """Whether text seems to be wrapped after this line."""
    line, following = lines[number].rstrip(), "".join(lines[number + 1 : number + 2]).split()
    width = max(len(near.rstrip()) for near in lines[max(0, number - 1) : number + 2])
    return len(line.lstrip()) >= _NARROWEST and bool(following) and len(line) + 1 + len(following[0]) > width
