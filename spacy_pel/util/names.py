"""Names as look-up keys: one normal form, and 64-bit hashes that are the same on every machine."""

import re
import unicodedata
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NOT_WORD = re.compile(r"[\W_]+")
_ASCII = bytes(ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(128)).ljust(256)
_RUN = re.compile(r"[^\W\d_]+|\d+")
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
# soft hyphen, zero-width characters, marks of direction, byte order mark
_INVISIBLE = [0x00AD, 0x034F, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065)]
_APOSTROPHES = "\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02c8"  # which NFKC does not leave as punctuation
_PLAIN = {**dict.fromkeys([*_INVISIBLE, 0xFEFF]), **dict.fromkeys(map(ord, _APOSTROPHES), "'")}
_GREEK_NAMES = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau
upsilon phi chi psi omega"""
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True))
# words that knowledge bases and annotated text also have as acronyms
PLAIN_WORDS = frozenset(Path(__file__).with_name("plain_words.txt").read_text(encoding="utf8").split())
_GREEK_TEXT = "\u0370-\u03ff\u1f00-\u1fff"
GREEK_SYMBOL = re.compile(f"(?<![{_GREEK_TEXT}])[{''.join(GREEK)}](?![{_GREEK_TEXT}])")  # a word is no symbol
_SYMBOLS = "".join((*GREEK, *map(str.upper, GREEK), "\u00b5"))
# ASCII, a Greek symbol, or a character with the marks on it
_CLUSTER = re.compile(
    f"(?s)([\x00-\x7f]+)(?![\u0300-\u036f])|(?<![{_GREEK_TEXT}])([{_SYMBOLS}])(?![{_GREEK_TEXT}])|.[\u0300-\u036f]*"
)


def normalize_alias(text: str) -> str:
    """Normalise a name: NFKC, case-folded, runs of punctuation and white space become one blank. Invisible
    characters, such as soft hyphens, are dropped.

    A name made only of punctuation keeps its symbols, so that it does not become empty.

    Args:
        text: a mention or an alias.

    Returns:
        e.g. "Fibroblast growth factor-1" -> "fibroblast growth factor 1".
    """
    if text.isascii():  # the same in a third of the time
        return " ".join(text.encode("ascii").translate(_ASCII).decode("ascii").split()) or text.strip()
    folded = compatible(text).casefold()
    return NOT_WORD.sub(" ", folded).strip() or folded.strip()


def counted_form(text: str) -> str:
    """The form that annotated text is counted by: in normal form, but a plain word in capitals, an acronym, as it is:
    HIT is no hit, and what texts mean by "WAS" says nothing of "was"."""
    form = normalize_alias(text)
    return form.upper() if text.isupper() and form in PLAIN_WORDS else form


def compatible(text: str) -> str:
    """A text in NFKC, without invisible characters and with ASCII apostrophes for letters that
    look like them."""
    return unicodedata.normalize("NFKC", text.translate(_PLAIN))


class Runs(NamedTuple):
    """Runs of letters and runs of digits in a text.

    Attributes:
        words: in normal form, without accents, Greek letters by their names.
        starts, ends: their character offsets in the text, ends exclusive.
    """

    words: list[str]
    starts: list[int]
    ends: list[int]


def runs_of(text: str, *, fold: bool = True) -> Runs:
    """Divide a text into runs of letters and of digits: "IL-1β" into "il", "1" and "beta". Texts whose
    ``normalize_alias`` is the same have the same runs.

    Args:
        text: a name, or the text to find it in.
        fold: ignore case.

    Returns:
        In order.
    """
    if text.isascii():
        runs = list(_RUN.finditer(text.lower() if fold else text))
        return Runs([run[0] for run in runs], [run.start() for run in runs], [run.end() for run in runs])
    pieces: list[str] = []
    starts: list[int] = []  # of each character of the pieces
    ends: list[int] = []
    for cluster in _CLUSTER.finditer(text):
        start, end = cluster.span()
        piece = compatible(cluster[0]).casefold() if fold or cluster[2] else compatible(cluster[0])
        if fold and not piece.isascii():
            piece = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", piece)))
        if cluster[2]:
            piece = f" {GREEK[piece]} "  # a run of its own
        pieces.append(piece)
        starts += range(start, end) if cluster[1] else [start] * len(piece)
        ends += range(start + 1, end + 1) if cluster[1] else [end] * len(piece)
    runs = list(_RUN.finditer("".join(pieces)))
    return Runs([run[0] for run in runs], [starts[run.start()] for run in runs], [ends[run.end() - 1] for run in runs])


def hash_strings(texts: Sequence[str]) -> NDArray[np.uint64]:
    """Hash strings for look-up tables. Two strings may share a hash: compare them too.

    Args:
        texts: any strings that UTF-8 can hold.

    Returns:
        One hash per string (BLAKE2b, 64 bits).
    """
    # a lone surrogate in a query is not an error: it matches nothing
    digests = [blake2b(text.encode("utf8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False)
