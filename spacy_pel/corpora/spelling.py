"""Whether two strings differ in spelling alone: Greek letters in ASCII, hyphens, accents, case, blanks."""

import re
import unicodedata

from ..util.names import GREEK

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
