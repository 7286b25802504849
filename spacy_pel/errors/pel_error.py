"""The only exception that users see."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from reprlib import Repr

_LONGEST = 1000  # characters of an error: some quote what they found


class PelError(ValueError):
    """A user-facing error with a code. The command line prints its text and exits with 2.

    The text is one line without control characters; of a long one the middle is left out.

    Args:
        text: an error text, filled in.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(_without_middle(one_line(text)))


def one_line(text: str) -> str:
    """A text without line ends and control characters, which could rewrite a terminal, and
    without lone surrogates, which it cannot show."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _shown(char) for char in text)


def _shown(char: str) -> str:
    return " " if char.isspace() else ascii(char)[1:-1]


def shortened(text: str, n: int = 200) -> str:
    """A text for an error, cut after n characters."""
    return text if len(text) <= n else f"{text[:n]}…"


def quoted(value: object) -> str:
    """The start of a value's repr, for an error; a value may be long or deeply nested."""
    short = Repr()
    short.maxstring = short.maxother = short.maxlong = 100
    return shortened(short.repr(value), 200)


def did_you_mean(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """A question to append to a clause about an unknown word; empty if no known word is close."""
    match = closest(word, (other for other in known if other != word), cutoff=cutoff)
    return f" (did you mean '{match}'?)" if match else ""


def closest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The known word that is closest to a word, capitals ignored; empty if none is close."""
    by_form = {other.casefold(): other for other in known}
    return next((by_form[form] for form in get_close_matches(word.casefold(), by_form, n=1, cutoff=cutoff)), "")


def listed(first: Sequence[str], n: int, separator: str = ", ") -> str:
    """The first of n texts, and how many more there are."""
    more = n - len(first)
    return separator.join([*first, f"{more:,} more"] if more else first)


def _without_middle(text: str) -> str:
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 1]}…{text[-half:]}"
