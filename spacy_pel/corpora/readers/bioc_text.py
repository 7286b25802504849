"""The text of a BioC document and the places of its mentions, for each base in which files give offsets."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from .reader_base import text_or_empty, whole_number

_MAX_GAP = 1_000_000  # characters between two passages: a wrong offset would fill the memory with blanks


class Base(NamedTuple):
    """What offsets count, and from where."""

    from_passage: bool = False
    in_bytes: bool = False

    def __str__(self) -> str:
        start = "passage" if self.from_passage else "document"
        return f"{'UTF-8 bytes' if self.in_bytes else 'characters'} from the start of the {start}"


STANDARD = Base()
BASES = (STANDARD, Base(from_passage=True), Base(in_bytes=True), Base(from_passage=True, in_bytes=True))


class BiocText:
    """The passages of a document, or their sentences, at their offsets, with blanks between them. A passage
    whose offset lies before the end of the text so far is moved after it, its annotations with it.

    Args:
        record: the document, as BioC JSON has it.
        base: of its offsets.
        annotations: whether to read them.
    """

    def __init__(self, record: dict[str, Any], base: Base, *, annotations: bool = True) -> None:
        self.base = base
        self.reads_annotations = annotations
        self.text = ""
        self.n_moved = self.n_relations = 0
        self.mentions: list[tuple[list[tuple[int, int]], dict[str, Any]]] = []
        self._size = 0  # of the text, in what the base counts
        pieces: list[_Piece] = []
        for passage in record["passages"]:
            pieces += self._passage(passage)
        self._annotate(record, pieces)

    def _passage(self, passage: dict[str, Any]) -> list["_Piece"]:
        sentences = passage.get("sentences") or []
        if passage.get("text") or not sentences:
            pieces = [self._append(passage)] if passage.get("text") is not None else []
            for sentence in sentences:
                self._annotate(sentence, [piece.sentence(sentence) for piece in pieces])
        else:
            pieces = []
            for sentence in sentences:
                pieces.append(self._append(sentence))
                self._annotate(sentence, pieces[-1:])
        self._annotate(passage, pieces)
        return pieces

    def _append(self, passage: dict[str, Any]) -> "_Piece":
        offset, text = whole_number(passage.get("offset") or 0), text_or_empty(passage.get("text"))
        gap = offset - self._size
        if gap > _MAX_GAP:
            raise ValueError(f"an offset of {offset} after {self._size} characters of text")
        if gap < 0:
            gap = 1
            self.n_moved += 1
        piece = _Piece(text, at=len(self.text) + gap, offset=offset, in_bytes=self.base.in_bytes)
        self.text += " " * gap + text
        self._size += gap + (len(text.encode("utf8")) if self.base.in_bytes else len(text))
        return piece

    def _annotate(self, holder: dict[str, Any], pieces: Sequence["_Piece"]) -> None:
        """The annotations of a document, passage or sentence, whose text is in these pieces."""
        if not self.reads_annotations:
            return
        self.n_relations += len(holder.get("relations") or [])
        for annotation in holder.get("annotations") or []:
            spans = []
            for location in annotation.get("locations") or []:
                start, length = whole_number(location["offset"]), whole_number(location["length"])
                earlier = [] if self.base.from_passage else [one for one in pieces if one.offset <= start]
                piece = (earlier[-1:] or pieces[:1] or [_Piece("", at=0, offset=0)])[0]
                start += piece.offset if self.base.from_passage else 0
                spans.append((piece.place(start), piece.place(start + length)))
            self.mentions.append((spans, annotation))


class _Piece:
    """A passage or sentence in the text of a document, and its offset in the file."""

    def __init__(self, text: str, *, at: int, offset: int, in_bytes: bool = False) -> None:
        self.text = text
        self.at = at
        self.offset = offset
        self.in_bytes = in_bytes

    def place(self, offset: int) -> int:
        """The character of the document at an offset of the file."""
        inside = offset - self.offset
        if self.in_bytes and inside > 0 and not self.text.isascii():
            inside = bisect_right(self._ends, inside) + max(inside - self._ends[-1], 0)
        return self.at + inside

    def sentence(self, sentence: dict[str, Any]) -> "_Piece":
        """A sentence of a passage that has its own text."""
        offset = whole_number(sentence.get("offset") or 0)
        at = self.place(offset)
        text = self.text[max(at - self.at, 0) :]
        return _Piece(text, at=at, offset=offset, in_bytes=self.in_bytes)

    @cached_property
    def _ends(self) -> list[int]:
        """The byte at which each character ends."""
        return list(accumulate(len(char.encode("utf8")) for char in self.text))
