"""The corpus format of this package: JSON lines, one document a line."""

from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, Optional, Sequence, Tuple, Union

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Document, Mention
from ..util import read_jsonl, write_jsonl
from .offsets import OffsetCheck, new_report

PathLike = Union[str, Path]


@registry.pel_corpus_readers("spacy-pel.JsonlCorpus.v1")
def make_jsonl_corpus(*, strict: bool = True) -> "JsonlCorpus":
    """Build a reader of the corpus format.

    strict (bool): a mention whose given "text" does not stand at its offsets is an error;
        otherwise it is moved by at most three characters or dropped, and counted.
    RETURNS (JsonlCorpus): the reader.
    """
    return JsonlCorpus(strict=strict)


class JsonlCorpus:
    """Reads ``{"id", "text", "mentions": [{"start", "end", "label", "ids"}], "meta"}`` lines.

    A mention may have "composite" (all ids are meant) and "text"; the latter is compared
    with the document's text at the offsets.
    """

    def __init__(self, *, strict: bool = True) -> None:
        self.strict = strict
        self.report: Dict[str, int] = new_report()

    def __call__(self, paths: Sequence[Path]) -> Iterator[Document]:
        self.report = new_report()
        check = OffsetCheck(self.report, strict=self.strict)
        for path in paths:
            for number, record in enumerate(read_jsonl(path), start=1):
                self.report["documents"] += 1
                yield _document(record, check, f"{path}, document {number}")


def read_corpus(path: PathLike) -> Iterator[Document]:
    """Read a corpus file (.jsonl or .jsonl.gz), verifying the offsets.

    path (PathLike): the file.
    YIELDS (Document): the documents in order.
    RAISES (PelError): if a line is not a document or a mention's offsets do not match.
    """
    return JsonlCorpus()([Path(path)])


def write_corpus(path: PathLike, documents: Iterable[Document]) -> int:
    """Write a corpus file, atomically; packed if the name ends in .gz.

    path (PathLike): the file.
    documents (Iterable[Document]): what to write; may be a generator.
    RETURNS (int): the number of documents.
    """
    return write_jsonl(path, map(to_record, documents))


def to_record(document: Document) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): one line of the corpus format."""
    mentions = []
    for mention in document.mentions:
        record: Dict[str, Any] = {
            "start": mention.start,
            "end": mention.end,
            "text": document.text[mention.start : mention.end],
            "label": mention.label,
            "ids": list(mention.ids),
        }
        if mention.composite:
            record["composite"] = True
        mentions.append(record)
    return {"id": document.id, "text": document.text, "mentions": mentions, "meta": document.meta}


def _document(record: Dict[str, Any], check: OffsetCheck, where: str) -> Document:
    text = record.get("text")
    if not isinstance(text, str) or "id" not in record:
        raise PelError(Errors.E202.format(where=where, came=f"the keys {sorted(record)}"))
    where = f"{where} ({record['id']})"
    mentions = []
    for given in record.get("mentions") or ():
        try:
            start, end = int(given["start"]), int(given["end"])
            ids = given.get("ids") or ()
        except (KeyError, TypeError, ValueError, AttributeError) as err:
            raise PelError(Errors.E202.format(where=where, came=f"the mention {given!r}")) from err
        if isinstance(ids, str):
            raise PelError(Errors.E202.format(where=where, came=f"the mention {given!r}"))
        surface = given.get("text", text[start:end] if 0 <= start < end <= len(text) else "")
        if surface == text[start:end] and 0 <= start < end <= len(text):
            check.report["mentions"] += 1  # kept as written, white space too
            place: Optional[Tuple[int, int]] = (start, end)
        else:
            place = check(text, start, end, surface, where=where)
        if place is not None:
            mentions.append(
                Mention(
                    *place,
                    label=str(given.get("label") or ""),
                    ids=tuple(str(entity_id) for entity_id in ids),
                    composite=bool(given.get("composite", False)),
                )
            )
    return Document(str(record["id"]), text, mentions, dict(record.get("meta") or {}))
