"""Does the text at a mention's offsets say what the source says it says?"""

from collections import Counter
from typing import Dict, Optional, Tuple

from ..errors import Errors, PelError

MAX_SHIFT = 3  # characters; more than that would guess


class OffsetCheck:
    """Verifies each mention of a reader against its document's text and counts.

    The counts in ``report``: "mentions" (seen in the source), "mismatches" (the text at the
    offsets was not the given string), of these "repaired" (the string stands within three
    characters of the given start) and "dropped".

    report (Dict[str, int]): where to count.
    strict (bool): a mismatch is an error.
    """

    def __init__(self, report: Dict[str, int], *, strict: bool = False) -> None:
        self.report = report
        self.strict = strict

    def __call__(
        self, text: str, start: int, end: int, surface: str, *, where: str
    ) -> Optional[Tuple[int, int]]:
        """Find the offsets at which the mention really stands.

        text (str): the document's text.
        start, end (int): the given character offsets.
        surface (str): the given string of the mention.
        where (str): file and line or document, for the error.
        RETURNS (Optional[Tuple[int, int]]): offsets with text[start:end] == surface (white space
            at its ends aside), or None = drop it.
        RAISES (PelError): if strict and the text differs.
        """
        self.report["mentions"] = self.report.get("mentions", 0) + 1
        found = text[start:end] if 0 <= start < end else ""
        if found and found == surface:
            return trim(text, start, end)
        if self.strict:
            raise PelError(
                Errors.E201.format(where=where, start=start, end=end, expected=surface, came=found)
            )
        self.report["mismatches"] = self.report.get("mismatches", 0) + 1
        place = nearby(text, start, surface.strip())
        kind = "dropped" if place is None else "repaired"
        self.report[kind] = self.report.get(kind, 0) + 1
        return place


def nearby(text: str, start: int, surface: str) -> Optional[Tuple[int, int]]:
    """Look for a string at most MAX_SHIFT characters away from where it should start.

    RETURNS (Optional[Tuple[int, int]]): the offsets of the nearest place, or None.
    """
    if not surface:
        return None
    for shift in sorted(range(-MAX_SHIFT, MAX_SHIFT + 1), key=abs):
        at = start + shift
        if at >= 0 and text.startswith(surface, at):
            return at, at + len(surface)
    return None


def trim(text: str, start: int, end: int) -> Optional[Tuple[int, int]]:
    """Leave out white space at the ends of a span.

    RETURNS (Optional[Tuple[int, int]]): the offsets, or None if nothing is left.
    """
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def new_report() -> Dict[str, int]:
    """RETURNS (Dict[str, int]): the counts every corpus reader starts with."""
    return Counter({"documents": 0, "mentions": 0, "mismatches": 0, "repaired": 0, "dropped": 0})
