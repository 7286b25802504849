"""Offsets of a text that was made from another one lead back to it."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..errors import Errors, PelError
from ..types import ORIGINAL, Document, is_original
from ..util import fingerprint

Span = tuple[int, int]


class Piece(NamedTuple):
    """A span of the new text.

    Attributes:
        start, end: characters of the new text.
        old_start, old_end: characters of the original that it replaces or copies.
        copied: character by character; otherwise only the whole piece corresponds to the whole span.
    """

    start: int
    end: int
    old_start: int
    old_end: int
    copied: bool


class OffsetMap:
    """Maps character offsets of a text made from another one, and back.

    The pieces follow each other without a gap in the new text. In the original their starts never
    decrease, and gaps are what was left out. A character of a piece that is not copied comes from the
    piece's whole span.

    Args:
        pieces: in the order of the new text; none of them is empty there.
    """

    def __init__(self, pieces: Sequence[Piece]):
        self.pieces = pieces
        self._starts = [piece.start for piece in pieces]

    @classmethod
    def cut(cls, start: int, end: int) -> "OffsetMap":
        """The map of a span of the original, from start to end, which may be all of it."""
        return cls([Piece(0, end - start, start, end, True)] if end > start else [])

    def __len__(self) -> int:
        """Characters of the new text."""
        return self.pieces[-1].end if self.pieces else 0

    def original_span(self, start: int, end: int) -> Span:
        """Args:
            start, end: characters of the new text, at least one.

        Returns:
            The corresponding characters of the original.

        Raises:
            PelError: if they are outside the new text.
        """
        if not 0 <= start < end <= len(self):
            raise PelError(Errors.E239.format(start=start, end=end, length=len(self)))
        first = self.pieces[bisect_right(self._starts, start) - 1]
        last = self.pieces[bisect_right(self._starts, end - 1) - 1]
        old_start = first.old_start + (start - first.start if first.copied else 0)
        return old_start, last.old_start + (end - last.start) if last.copied else last.old_end

    @classmethod
    def from_json(cls, given: Any) -> "OffsetMap":
        """Args:
            given: for each piece its length, where it begins in the original and, if it is not copied, the length
                there.

        Raises:
            PelError: if it is something else.
        """
        pieces: list[Piece] = []
        at = done = 0
        try:
            for length, old_start, *old_length in given:
                old_end = old_start + (old_length[0] if old_length else length)
                if length < 1 or old_start < done or old_end < old_start or len(old_length) > 1:
                    raise ValueError([length, old_start, *old_length])
                pieces.append(Piece(at, at + length, old_start, old_end, not old_length))
                at, done = at + length, old_start if old_length else old_end
        except (TypeError, ValueError) as err:
            raise PelError(Errors.E238.format(got=f"{str(given)[:80]} ({err})")) from err
        return cls(pieces)


class Original(NamedTuple):
    """Where a document comes from.

    Attributes:
        id: of the document before any preprocessing.
        offsets: from its text to the current one.
        text_hash: of its text, see ``hash_of``.
    """

    id: str
    offsets: OffsetMap
    text_hash: str

    @classmethod
    def of(cls, document: Document) -> "Original":
        """The original of a document; itself, if it was not preprocessed.

        Raises:
            PelError: if its meta holds something else under our key.
        """
        if ORIGINAL not in document.meta:
            return cls(document.id, OffsetMap.cut(0, len(document.text)), hash_of(document.text))
        record = document.meta[ORIGINAL]
        if not is_original(record):
            raise PelError(Errors.E238.format(got=str(record)[:80]))
        offsets = OffsetMap.from_json(record["offsets"])
        if len(offsets) != len(document.text):
            got = f"offsets of a text of {len(offsets)} characters for one of {len(document.text)}"
            raise PelError(Errors.E238.format(got=got))
        return cls(str(record["id"]), offsets, str(record["text_hash"]))


def hash_of(text: str) -> str:
    """A hash that identifies an original text."""
    return fingerprint(text.encode("utf8", errors="surrogatepass"))
