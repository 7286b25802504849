"""Maps of offsets for texts that are changed: what ``spacy_pel.training.offset_map`` reads."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from spacy_pel.training.offset_map import OffsetMap, Original, Piece, Span


def replaced(length: int, changes: Sequence[tuple[int, int, int]]) -> OffsetMap:
    """The map of a text in which spans were replaced.

    Args:
        length: of the original.
        changes: start and end in the original and the length of
            the replacement; ascending, without overlaps.
    """
    pieces: list[Piece] = []
    at = done = 0  # in the new text, in the original
    for start, end, size in [*changes, (length, length, 0)]:
        if start > done:
            pieces.append(Piece(at, at + start - done, done, start, True))
            at += start - done
        if size:
            pieces.append(Piece(at, at + size, start, end, False))
            at += size
        done = end
    return _merged(pieces)


def _merged(pieces: Sequence[Piece]) -> OffsetMap:
    """Copied pieces that follow each other in both texts are one."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last and last.copied and piece.copied and last.old_end == piece.old_start:
            merged[-1] = Piece(last.start, piece.end, last.old_start, piece.old_end, True)
        else:
            merged.append(piece)
    return OffsetMap(merged)


def new_span(offsets: OffsetMap, start: int, end: int) -> Span | None:
    """Args:
        offsets: from an original to a new text.
        start, end: characters of the original, at least one.

    Returns:
        Characters of the new text that correspond to any of them;
        None = none is left.
    """
    touched = [piece for piece in offsets.pieces if piece.old_start < end and piece.old_end > start]
    if not touched:
        return None
    first, last = touched[0], touched[-1]
    return (
        first.start + (max(0, start - first.old_start) if first.copied else 0),
        last.start + (min(end, last.old_end) - last.old_start) if last.copied else last.end,
    )


def joined(first: OffsetMap, later: OffsetMap) -> OffsetMap:
    """Join two steps.

    Args:
        first: from a text to a new one.
        later: from that new text to a newer one.

    Returns:
        From the first text to the newest.
    """
    pieces: list[Piece] = []
    starts = [piece.start for piece in first.pieces]
    for piece in later.pieces:
        if not piece.copied:
            empty = piece.old_start == piece.old_end
            old = _point(first, piece.old_start) if empty else first.original_span(*piece[2:4])
            pieces.append(Piece(piece.start, piece.end, *old, False))
            continue
        shift = piece.start - piece.old_start
        for mine in first.pieces[bisect_right(starts, piece.old_start) - 1 :]:
            if mine.start >= piece.old_end:
                break
            start, end = max(mine.start, piece.old_start), min(mine.end, piece.old_end)
            pieces.append(Piece(start + shift, end + shift, *first.original_span(start, end), mine.copied))
    return _merged(pieces)


def _point(offsets: OffsetMap, at: int) -> Span:
    """An empty span of the original, for inserted text."""
    end = 0 if at == 0 else offsets.original_span(at - 1, at)[1]
    return end, end


def as_json(offsets: OffsetMap) -> list[list[int]]:
    """For each piece its length, where it begins in the original and, if
    it is not copied, the length there: what ``OffsetMap.from_json`` reads."""
    return [
        [piece.end - piece.start, piece.old_start] + ([] if piece.copied else [piece.old_end - piece.old_start])
        for piece in offsets.pieces
    ]


def record(original: Original) -> dict[str, Any]:
    """What ``Original.of`` reads in the meta of a document."""
    return {"id": original.id, "offsets": as_json(original.offsets), "text_hash": original.text_hash}
