"""Checks that the text at a mention's offsets is the mention's text."""

import re
import unicodedata
from collections.abc import Sequence

from ..errors import Errors, PelError, shortened
from ..util.names import GREEK

MAX_SHIFT = 3  # characters; a larger shift would be a guess
_BLANKS = 1000  # characters by which the text of a mention may be longer than its string
_EXAMPLES = 3
Place = tuple[int, int]


class OffsetCheck:
    """Verifies each mention of a reader against its document's text and counts.

    The counts in ``report``: "mentions" (seen in the source), "normalised" (the text at the offsets differs
    from the given string in spelling alone, see ``same_but_spelling``), "mismatches" (it differs otherwise), of
    these "repaired" (the string was found within three characters of the given start) and "dropped".
    ``examples`` says of the first three dropped mentions what was expected and what stands there.

    Args:
        report: where to count.
        strict: a mismatch is an error, also in spelling.
    """

    def __init__(self, report: dict[str, int], *, strict: bool = False) -> None:
        self.report = report
        self.strict = strict
        self.examples: list[str] = []

    def __call__(self, text: str, spans: Sequence[Place], surface: str, *, where: str) -> Place | None:
        """Find the actual offsets of a mention, of one part or several; dots and blanks between them do not matter.

        Args:
            text: the document's text.
            spans: the given character offsets of the parts, in the order of the string.
            surface: the given string of the mention; other white space does not matter.
            where: file and line or document, for the error.

        Returns:
            The offsets from the first part to the last, without white space at the ends, or None =
            leave the mention out.

        Raises:
            PelError: if strict and the text differs.
        """
        self.count("mentions")
        written = text_at(text, spans, surface)
        same = written is not None and _words(written) == _words(surface)
        if same or (not self.strict and written is not None and same_but_spelling(written, surface)):
            inside = [at for start, end in spans for at in range(start, end) if not text[at].isspace()]
            if not inside:
                self.drop(f"{where}: expected a mention, got white space")
                return None
            if not same:
                self.count("normalised")
            return min(inside), max(inside) + 1
        shown = ", ".join(f"{start} to {end}" for start, end in spans)
        expected = repr(shortened(surface, 60)) if surface else "a mention"
        got = "no text" if written is None else repr(shortened(written, 60))
        if self.strict:
            raise PelError(Errors.E201.format(where=where, spans=shown, expected=expected, got=got))
        self.count("mismatches")
        if len(spans) == 1 and (place := _nearby(text, spans[0][0], surface.strip())):
            self.count("repaired")
            return place
        self.drop(f"{where}: expected {expected} at characters {shown}, got {got}")
        return None

    def drop(self, example: str) -> None:
        """Count a dropped mention.

        Args:
            example: what was expected and what was found.
        """
        self.count("dropped")
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)

    def count(self, key: str, n: int = 1) -> None:
        """Count something in ``report``."""
        if n:
            self.report[key] = self.report.get(key, 0) + n


def fits(text: str, spans: Sequence[Place], surface: str) -> bool:
    """Whether the text at the offsets is the string of a mention, but for spelling."""
    written = text_at(text, spans, surface)
    return written is not None and (_words(written) == _words(surface) != [] or same_but_spelling(written, surface))


def text_at(text: str, spans: Sequence[Place], surface: str) -> str | None:
    """The text of a mention's parts, joined by blanks.

    Spans that are over 1,000 characters longer than the string are not read: a file with many of them would
    take time by the square of its size.

    Returns:
        The text, or None if a span is empty, outside the text, or too long.
    """
    valid = len(spans) > 0 and all(0 <= start < end <= len(text) for start, end in spans)
    if not valid or sum(end - start for start, end in spans) > len(surface) + _BLANKS:
        return None
    return " ".join(text[start:end] for start, end in spans)


def new_report() -> dict[str, int]:
    """The counts every corpus reader starts with."""
    return {"documents": 0, "mentions": 0, "mismatches": 0, "repaired": 0, "dropped": 0}


def _words(text: str) -> list[str]:
    return [word for word in text.split() if word != "..."]  # CRAFT: "breast ... cancer"


def _nearby(text: str, start: int, surface: str) -> Place | None:
    starts = (start + shift for shift in sorted(range(-MAX_SHIFT, MAX_SHIFT + 1), key=abs))
    found = (at for at in starts if surface and at >= 0 and text.startswith(surface, at))
    return next(((at, at + len(surface)) for at in found), None)


_BETWEEN = re.compile(r"[\s\u2010-\u2015\u2043\u2212\uff0d-]+")  # hyphens, dashes, the minus sign, blanks
_IN_WORD = re.compile(r"(?<=\w)-(?=[^\W\d])|(?<=[^\W\d])-(?=\w)")
_PLAIN = str.maketrans(
    {**dict.fromkeys("‘’ʼ′`´", "'"), **dict.fromkeys("“”″", '"')}
    | {"×": "x", "ß": "β", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i"}
)
_GREEK = re.compile("[α-ω]")
_LETTERS = {"β": "ss", "η": "h", "λ": "lamda", "μ": "u", "ν": "v", "υ": "y", "φ": "f", "χ": "x", "ω": "w"}


def same_but_spelling(left: str, right: str) -> bool:
    """Compare the string of a mention with the text at its offsets, as corpora normalise such strings.

    Returns:
        Whether they differ in Greek letters ("TNF-α": "TNF-a", "TNF-alpha"), hyphens, quotes,
        accents, case or white space alone. A hyphen between digits counts: "1-2" is not "12".
    """
    left, right = _plain(left), _plain(right)
    return left == right or _spelled(left, right) or _spelled(right, left)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKD", text.lower().translate(_PLAIN)).casefold()
    text = "".join(char for char in text if unicodedata.category(char) not in ("Mn", "Cf"))
    return _IN_WORD.sub("", _BETWEEN.sub("-", text))


def _spelled(greek: str, other: str) -> bool:
    """Whether the second string is the first with its Greek letters in ASCII."""
    if not _GREEK.search(greek):
        return False
    pattern = "".join(_choices(char) if _GREEK.match(char) else re.escape(char) for char in greek)
    return re.fullmatch(pattern, other) is not None


def _choices(letter: str) -> str:
    name = GREEK[letter]
    return "(?:" + "|".join(filter(None, (letter, name, name[0], _LETTERS.get(letter)))) + ")"
