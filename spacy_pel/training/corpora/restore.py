"""Mapping mentions of a preprocessed corpus, gold or linked, back to the original texts."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from ...corpora.original import Original, hash_of
from ...errors import Errors, PelError
from ...types import Document

Record = dict[str, Any]


def restored(records: Iterable[Record], originals: dict[str, Document], path: Path) -> Iterator[Record]:
    """Map the mentions of preprocessed documents back to their originals.

    Args:
        records: lines of a corpus, or of what `spacy-pel link` made of one; the windows of one
            document follow each other.
        originals: the documents before preprocessing, by id.
        path: where these come from, for errors.

    Yields:
        Lines with the original texts; other keys of a mention are kept. Windows are joined;
        of mentions with the same offsets and label the first is kept.

    Raises:
        PelError: if a line is not a document, an original is missing or has another text, or the windows
            of one document are not consecutive.
    """
    sources = ((_original(record), record) for record in records)
    done: set[str] = set()
    for document_id, group in groupby(sources, key=lambda pair: pair[0].id):
        if document_id not in originals:
            raise PelError(Errors.E240.format(document=document_id, path=path, what="was preprocessed"))
        if document_id in done:
            raise PelError(Errors.E249.format(document=document_id))
        done.add(document_id)
        original = originals[document_id]
        text_hash = hash_of(original.text)
        mentions: dict[tuple[int, int, str], Record] = {}
        for source, record in group:
            if source.text_hash != text_hash:
                raise PelError(Errors.E248.format(document=document_id, path=path, length=len(original.text)))
            for mention in _mentions(record):
                start, end = source.offsets.original_span(mention["start"], mention["end"])
                if end > len(original.text):
                    raise PelError(Errors.E241.format(document=document_id, path=path, start=start, end=end))
                moved = {**mention, "start": start, "end": end, "text": original.text[start:end]}
                mentions.setdefault((start, end, str(mention.get("label") or "")), moved)
        ordered = sorted(mentions.values(), key=lambda mention: (mention["start"], -mention["end"]))
        yield {"id": document_id, "text": original.text, "mentions": ordered, "meta": original.meta}


def _original(record: Record) -> Original:
    meta = record.get("meta") or {}
    if not isinstance(record.get("text"), str) or "id" not in record or not isinstance(meta, dict):
        raise PelError(Errors.E202.format(where="a line to restore", got=f"the keys {sorted(record)}"))
    return Original.of(Document(str(record["id"]), record["text"], meta=meta))


def _mentions(record: Record) -> list[Record]:
    """Each with whole numbers as "start" and "end"."""
    mentions = record.get("mentions") or []
    for mention in mentions if isinstance(mentions, list) else [mentions]:
        # type(), as True is an int, too
        if not isinstance(mention, dict) or {type(mention.get(key)) for key in ("start", "end")} != {int}:
            where = f"a line to restore ({record['id']})"
            raise PelError(Errors.E202.format(where=where, got=f"the mention {mention!r}"))
    return mentions
