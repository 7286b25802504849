"""Replacing a document's text, or spans of it: its mentions are moved, and its meta maps them back."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...corpora.original import KEY, OffsetMap, Original
from ...types import TITLE_LENGTH, Document, Mention


def with_replacements(document: Document, replacements: Iterable[tuple[int, int, str]]) -> tuple[Document, int]:
    """Replace spans of a document.

    Args:
        document: it is not changed.
        replacements: start, end and new text of each, by start; one that begins inside an earlier one is left
            out.

    Returns:
        The new document, and how many spans were replaced.
    """
    pieces: list[str] = []
    changes: list[tuple[int, int, int]] = []
    done = 0
    for start, end, new in replacements:
        if start >= done:
            pieces += [document.text[done:start], new]
            changes.append((start, end, len(new)))
            done = end
    text = "".join([*pieces, document.text[done:]])
    return rewritten(document, text, OffsetMap.replaced(len(document.text), changes)), len(changes)


def with_letters(document: Document, change: Callable[[str], str]) -> Document:
    """Replace each character of a document.

    Args:
        document: it is not changed.
        change: from a character to a text, such as ``str.lower``, which turns "İ" into two characters.

    Returns:
        The new document.
    """
    letters = [change(letter) for letter in document.text]
    changes = [(at, at + 1, len(new)) for at, new in enumerate(letters) if len(new) != 1]
    return rewritten(document, "".join(letters), OffsetMap.replaced(len(document.text), changes))


def rewritten(
    document: Document,
    text: str,
    offsets: OffsetMap,
    *,
    id: str | None = None,
    mentions: Sequence[Mention] | None = None,
) -> Document:
    """Give a document another text.

    Args:
        document: it is not changed.
        text: the new one.
        offsets: from the document's text to the new one.
        id: of the new document; None = the same.
        mentions: those of the document's mentions to keep; None = all. A
            mention none of whose characters is left is dropped.

    Returns:
        The new one.
    """
    moved = []
    for mention in document.mentions if mentions is None else mentions:
        if span := offsets.new_span(mention.start, mention.end):
            moved.append(replace(mention, start=span[0], end=span[1]))
    source = Original.of(document)
    meta = dict(document.meta)
    if "discontinuous" in meta:
        meta["discontinuous"] = _parts(meta["discontinuous"], offsets)
    length = meta.get(TITLE_LENGTH)
    if type(length) is int and 0 < length <= len(document.text):
        title = offsets.new_span(0, length)
        if title is not None and title[0] == 0:
            meta[TITLE_LENGTH] = title[1]
        else:
            del meta[TITLE_LENGTH]
    if KEY in meta or id is not None or text != document.text:
        meta[KEY] = source._replace(offsets=source.offsets.then(offsets)).to_json()
    return Document(document.id if id is None else id, text, moved, meta)


def _parts(listed: Sequence[dict[str, Any]], offsets: OffsetMap) -> list[dict[str, Any]]:
    """The parts of discontinuous mentions (see ``policy``), moved; those that lost
    one are left out."""
    moved = []
    for entry in listed:
        whole = offsets.new_span(entry["start"], entry["end"])
        spans = [offsets.new_span(start, end) for start, end in entry["spans"]]
        if whole is not None and None not in spans:
            moved.append({"start": whole[0], "end": whole[1], "spans": [list(span) for span in spans if span]})
    return moved
