"""White space between the words of a text: hard-wrapped lines, no-break spaces, paragraphs, lists."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from spacy.tokens import Doc, Token

_NARROWEST = 40  # characters; text is hardly ever wrapped to shorter lines
_CAPITALISED = re.compile(r"\s*(?:[A-Z][a-z]{2}|[A-Z][A-Za-z /&-]*:)")  # "Hypertension", "ALLERGIES:"
_BULLETS = frozenset("-*+\u00b7\u2022\u2013\u2014\u25cf\u25aa")
_NUMBER = re.compile(r"\d{1,2}")
_NUMBERED = re.compile(r"\d{1,2}[.)]")


def has_blank_line(text: str) -> bool:
    """Whether there is a line without words between two lines of a text."""
    return any(not line.strip() for line in f"x{text}x".splitlines())


class Breaks(NamedTuple):
    """Tokens at which the items of a list, the lines of a note or the words of a text end, or do not.

    Attributes:
        certain: no mention crosses them: blank lines, what marks an item at the start of a line ("-"
            or "2."), and line breaks before a capitalised word or a heading.
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
    starts_line = True
    before: Token | None = None
    for token in doc:
        if before is not None and not before.whitespace_ and before.text[-1:].isalpha() and token.text[:1].isalpha():
            breaks.within_word.add(token.i)
        before = token
        if not token.is_space:
            if starts_line:
                breaks.certain.update(_marker(doc, token.i))
            starts_line = False
        elif token.idx + len(token) >= ends[line := bisect_right(ends, token.idx)]:
            starts_line = True
            following = "".join(lines[line + 1 : line + 2])
            if has_blank_line(token.text) or _CAPITALISED.match(following):
                breaks.certain.add(token.i)
            elif not _is_wrapped(lines, line):
                breaks.likely.add(token.i)
    return breaks


def _is_wrapped(lines: Sequence[str], number: int) -> bool:
    """Whether text seems to be wrapped after this line."""
    line, following = lines[number].rstrip(), "".join(lines[number + 1 : number + 2]).split()
    width = max(len(near.rstrip()) for near in lines[max(0, number - 1) : number + 2])
    return len(line.lstrip()) >= _NARROWEST and bool(following) and len(line) + 1 + len(following[0]) > width


def _marker(doc: Doc, start: int) -> list[int]:
    """The tokens that mark an item of a list here; [] = none do."""
    text, following = doc[start].text, doc[start + 1 : start + 2].text
    if _NUMBER.fullmatch(text) and following in (".", ")"):
        marker = [start, start + 1]
    elif text in _BULLETS or _NUMBERED.fullmatch(text):
        marker = [start]
    else:
        return []
    end = marker[-1]
    is_followed_by_blank = doc[end].whitespace_ or doc[end + 1 : end + 2].text.isspace()
    return marker if is_followed_by_blank else []
