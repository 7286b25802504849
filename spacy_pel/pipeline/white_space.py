"""White space between the words of a text: hard-wrapped lines, no-break spaces, paragraphs, lists."""

import re
from typing import List, Set

from spacy.tokens import Doc, Token

_BULLETS = frozenset("-*+\u00b7\u2022\u2013\u2014\u25cf\u25aa")
_NUMBER = re.compile(r"\d{1,2}")
_NUMBERED = re.compile(r"\d{1,2}[.)]")


def has_blank_line(text: str) -> bool:
    """RETURNS (bool): whether there is a line without words between two lines of a text."""
    return any(not line.strip() for line in f"x{text}x".splitlines())


def ends_paragraph(token: Token) -> bool:
    """RETURNS (bool): whether the token is white space with a blank line, which no name goes across."""
    return bool(token.is_space) and has_blank_line(token.text)


def words_of(doc: Doc) -> List[int]:
    """RETURNS (List[int]): the tokens that are words or the end of a paragraph. A name may be wrapped, or
    have two blanks in it: white space that is a token of its own, but says nothing."""
    return [token.i for token in doc if not token.is_space or ends_paragraph(token)]


def is_within_word(doc: Doc, place: int) -> bool:
    """RETURNS (bool): whether a token begins between two letters of a word."""
    if not place or doc[place - 1].whitespace_:
        return False
    return bool(doc[place - 1].text[-1:].isalpha() and doc[place].text[:1].isalpha())


def breaks_of(doc: Doc) -> Set[int]:
    """RETURNS (Set[int]): the tokens that no mention goes across: ends of paragraphs, and what marks an item
    of a list at the start of a line, "-" or "2."."""
    breaks: Set[int] = set()
    starts_line = True
    for token in doc:
        if ends_paragraph(token):
            breaks.add(token.i)
        elif starts_line and not token.is_space:
            breaks.update(_marker(doc, token.i))
        starts_line = "\n" in token.text or "\r" in token.text or (starts_line and token.is_space)
    return breaks


def _marker(doc: Doc, start: int) -> List[int]:
    """RETURNS (List[int]): the tokens that mark an item of a list here; [] = none do."""
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
