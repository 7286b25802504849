"""Text for formats of lines and columns, with all offsets unchanged."""

import re
from typing import Any

_LINE_END = re.compile(r"[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")  # those of str.splitlines
_OTHER = re.compile(r"[\t\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")  # all but \n, and tabs


def one_line(text: str) -> str:
    """A text of the same length, with a blank for each line end and tab."""
    return plain_lines(text).replace("\n", " ")


def plain_lines(text: str) -> str:
    r"""A text of the same length, in which lines end in \n alone; with a blank for each other
    line end and tab."""
    return _OTHER.sub(" ", text)


def codes_note(mention: dict[str, Any]) -> str:
    """The codes of a mention for people: "MESH D001249; ICD10CM J45, J45.90"; empty without any."""
    return "; ".join(f"{name} {', '.join(codes)}" for name, codes in mention.get("codes", {}).items() if codes)


def first_line_end(text: str) -> int:
    """The position of the first line end, -1 if there is none."""
    match = _LINE_END.search(text)
    return match.start() if match else -1
