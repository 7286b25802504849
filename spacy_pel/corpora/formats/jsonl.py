"""The corpus format of this package: JSON lines, one document per line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...errors import Errors, PelError, Warnings, quoted
from ...registry import registry
from ...types import NIL, Document, Mention
from ...util import PathLike, ending_of, guarded, logger, numbered_jsonl, read_lines, unexpected, write_jsonl
from ..offsets import OffsetCheck
from ..policy import has_id, looks_like_id
from .base import CorpusReaderBase, id_text, stem_of, text_or_empty, whole_number
from .tables import parquet_rows

_LINK_KEYS = {"kb_id", "candidates"}  # of the mentions that `link` writes
# what holds the mentions: here, in Prodigy and spaCy, in versions of doccano
_ANNOTATION = ("mentions", "spans", "ents", "entities", "label", "labels", "annotations", "annotation")
_TEXTS = ("text", "data", "content", "sentence")
_AS_OURS = {
    **dict.fromkeys(("start_offset", "start_char", "begin", "BeginOffset"), "start"),
    **dict.fromkeys(("end_offset", "end_char", "EndOffset"), "end"),
    "span": "offsets",
}
_LABELS = ("label", "labels", "type", "label_", "tag", "category", "entity_group")  # keys, the surest first
_MENTION = ("start", "end", "label", "kb_id")  # of a list
_NUMBER = re.compile(r"[A-Za-z]{0,2}\d{1,4}")
_IDS, _NO_IDS = ("ids", "kb_id"), ("label", "text", "name")  # keys of a mention


@registry.pel_corpus_readers("spacy-pel.JsonlCorpus.v1")
@dataclass(kw_only=True, eq=False)
class JsonlCorpus(CorpusReaderBase):
    """Reads ``{"id", "text", "mentions": [{"start", "end", "label", "ids"}], "meta"}`` lines.

    A mention may have "composite" (all ids are meant) and "text", which is compared with
    the document's text. Mentions are not changed, including their order and white space. A .parquet file of
    ``link`` is read in the same way.

    Lines of annotation tools are read, too: mentions under "spans" or "ents" (Prodigy, spaCy), "entities", "label",
    "labels" or "annotations" (doccano), as objects, also with "start_offset" and "end_offset", "offset" and "length" or
    a list of "labels", or as lists of start, end, label and perhaps an id; the tasks of Label Studio, of which the
    first annotation counts; and the choice of an id in Prodigy ("accept"). A document without an id is named by
    the file and the line; one that was rejected or ignored in Prodigy is left out and counted as "not_accepted".

    Args:
        strict: a mention whose "text" differs from the text at its offsets is an error;
            otherwise it is moved by at most three characters or left out, and counted.
        strip_prefix: taken off the ids that have it, e.g. "MESH:".
    """

    label: str | None = field(default=None, init=False)  # mentions stay as they are
    strict: bool = True

    def read(self, paths: Sequence[Path], *, gold: bool = False) -> Iterator[Document]:
        """As calling it, but a file may be empty.

        Args:
            gold: the output of ``link`` is an error.
        """
        for path in paths:
            n_links = corrected = 0
            for number, record in _numbered(Path(path)):
                if record.get("answer") in ("reject", "ignore"):
                    self.count("not_accepted")
                    continue
                record = _plain_task(record, where := f"{path}, line {number}")
                document = _document(record, self.check, where, f"{stem_of(Path(path))}-{number}")
                mentions = (one for one in record.get("mentions") or () if isinstance(one, dict))
                links = [one for one in mentions if _LINK_KEYS <= one.keys()]
                if gold and links:
                    raise PelError(Errors.E219.format(path=path))
                n_links += len(links)
                corrected += sum(map(_is_corrected, links))
                for at, mention in enumerate(document.mentions if self.strip_prefix else ()):
                    ids = tuple(key.removeprefix(self.strip_prefix) or key for key in mention.ids)
                    document.mentions[at] = replace(mention, ids=ids)
                yield document
            if corrected:
                logger.warning(Warnings.W202.format(path=path, n=corrected))
            elif n_links:
                logger.warning(Warnings.W203.format(path=path, n=n_links))

    def tidied(self, paths: Sequence[Path]) -> Iterator[Document]:
        return self.read(paths)  # as they are


def read_corpus(path: PathLike) -> Iterator[Document]:
    """Read a corpus file (.jsonl or .jsonl.gz), verifying the offsets; it may be empty.

    Args:
        path: the file, or a .parquet file of ``link``.

    Yields:
        The documents in order.

    Raises:
        PelError: if a line is not a document or a mention's offsets do not match.
    """
    return guarded(JsonlCorpus().read([Path(path)]), "JsonlCorpus", [path])


def read_gold(path: PathLike) -> Iterator[Document]:
    """Read an annotated corpus as ``read_corpus`` does; refuse what ``link`` wrote, whose ids are answers.

    Args:
        path: the file.

    Yields:
        The documents in order.

    Raises:
        PelError: as ``read_corpus``, and if ``link`` wrote the file.
    """
    return guarded(JsonlCorpus().read([Path(path)], gold=True), "JsonlCorpus", [path])


def read_links(path: PathLike) -> Iterator[dict[str, Any]]:
    """Read what ``link`` wrote as JSON lines or as Parquet: both give the same.

    Args:
        path: a .jsonl, .jsonl.gz or .parquet file.

    Yields:
        A document with "id", "text", "mentions" and "meta". A mention's "candidates" are
        pairs [id, score], also from Parquet, where they are structures.

    Raises:
        PelError: if the file is missing, or is not JSON lines or Parquet.
    """
    return (record for _, record in _numbered(Path(path)))


def write_corpus(path: PathLike, documents: Iterable[Document]) -> int:
    """Write a corpus file, atomically; gzipped if the name ends in .gz.

    Args:
        path: the file.
        documents: what to write; may be a generator.

    Returns:
        The number of documents.
    """
    return write_jsonl(path, map(to_record, documents))


def to_record(document: Document) -> dict[str, Any]:
    """One line of the corpus format."""
    mentions = [
        {"start": one.start, "end": one.end, "text": document.text[one.start : one.end], "label": one.label}
        | {"ids": list(one.ids), **({"composite": True} if one.composite else {})}
        for one in document.mentions
    ]
    return {"id": document.id, "text": document.text, "mentions": mentions, "meta": document.meta}


def _numbered(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if ending_of(path) in (".csv", ".tsv"):
        todo = "Convert it, or let `link` write .jsonl or .parquet."
        raise unexpected(path, "JSON lines or Parquet", "a table, which lacks texts or mentions", todo)
    if path.suffix == ".parquet":
        return parquet_rows(path)
    first = next((line for _, line in read_lines(path) if line.strip()), "{").strip()
    if first[0] not in "{[":
        todo = f"If it is of another format: spacy-pel convert CORPUS.jsonl --reader NAME {path}"
        raise unexpected(path, "JSON lines or Parquet", quoted(first), todo)
    return numbered_jsonl(path)


def _is_corrected(mention: dict[str, Any]) -> bool:
    """Whether the ids of a mention that ``link`` wrote were changed, or its kb_id."""
    answer = [] if mention["kb_id"] in ("", NIL) else [mention["kb_id"]]
    return (mention.get("ids") or []) != answer


def _document(record: dict[str, Any], check: OffsetCheck, where: str, name: str) -> Document:
    """The document of a line; without an id it gets this name."""
    text, meta = next((record[key] for key in _TEXTS if key in record), None), record.get("meta") or {}
    if not isinstance(text, str):
        raise PelError(Errors.E202.format(where=where, got=f"the keys {quoted(sorted(record))}"))
    if not isinstance(meta, dict):
        raise PelError(Errors.E202.format(where=where, got=f"the meta {quoted(meta)}"))
    try:
        document = Document(id_text(record.get("id", name)), text, meta=meta)
    except ValueError as err:
        raise PelError(Errors.E202.format(where=where, got=f"the id {quoted(record['id'])}")) from err
    where = f"{where} ({document.id})"
    for item in _annotation(record, where):
        try:
            mention, surface = _mention(item)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            raise PelError(Errors.E202.format(where=where, got=f"the mention {quoted(item)}")) from err
        if isinstance(item, dict) and item.keys().isdisjoint(_IDS):
            for key in (key for key, value in item.items() if key not in _NO_IDS and _is_id(value)):
                raise PelError(Errors.E203.format(where=where, got=f"an id under '{key}'", known=", ".join(_IDS)))
        start, end = mention.start, mention.end
        if 0 <= start < end <= len(text) and surface in (None, text[start:end]):
            check.report["mentions"] += 1
            document.mentions.append(mention)
        elif span := check(text, [(start, end)], surface or "", where=where):
            document.mentions.append(replace(mention, start=span[0], end=span[1]))
    return document


def _plain_task(record: dict[str, Any], where: str) -> dict[str, Any]:
    """A task of Label Studio as a document with the first annotation that counts; another record as it is."""
    data, done = record.get("data"), record.get("annotations", record.get("completions"))
    if not isinstance(data, dict) or not isinstance(done, list):
        return record
    texts = {name: value for name, value in data.items() if isinstance(value, str)}
    key = "text" if "text" in texts else max(texts, key=lambda name: len(texts[name]), default="")
    try:
        result: Any = next((one["result"] for one in done if not one.get("was_cancelled")), [])
        mentions = [item["value"] for item in result if "labels" in item.get("value", ())]
    except (KeyError, TypeError, AttributeError) as err:
        raise PelError(Errors.E202.format(where=where, got=f"the annotations {quoted(done)}")) from err
    named = {"id": record["id"]} if "id" in record else {}
    return {**named, "text": data.pop(key, None), "mentions": mentions, "meta": data}


def _annotation(record: dict[str, Any], where: str) -> list[Any]:
    """The mentions of a line, whatever tool wrote it.

    Raises:
        PelError: if they are under another key, or not in a list.
    """
    keys = [key for key in _ANNOTATION if record.get(key)]
    if "mentions" in record and "mentions" not in keys:  # a "label" may be that of the document
        keys = [key for key in keys if _has_records(record[key])]
    if keys:
        annotation = record[keys[0]]
        if isinstance(annotation, dict):  # {"annotations": {"entities": [...]}}
            annotation = next((annotation[key] for key in _ANNOTATION if key in annotation), annotation)
        if not isinstance(annotation, list):
            raise PelError(Errors.E202.format(where=where, got=f"the {keys[0]} {quoted(annotation)}"))
        if "options" in record and len(annotation) == 1 and isinstance(annotation[0], dict):
            # Prodigy's choice of an entity; ids such as "NIL_other" are none
            accepted = [given] if isinstance(given := record.get("accept") or [], str) else given
            ids = [one for one in accepted if not str(one).upper().startswith(NIL)]
            return [{"ids": ids, **annotation[0]}]
        return annotation
    unread = [repr(key) for key, value in record.items() if key != "meta" and _has_records(value)]
    if unread and record.keys().isdisjoint(_ANNOTATION):
        names = ", ".join(unread)
        raise PelError(Errors.E203.format(where=where, got=f"it under {names}", known=", ".join(_ANNOTATION)))
    return []


def _is_id(value: Any) -> bool:
    """Whether a value of a mention is an entity's id, not its own number ("T1")."""
    value = value[0] if isinstance(value, list) and value else value
    return isinstance(value, str) and has_id(value) and looks_like_id(value) and _NUMBER.fullmatch(value) is None


def _has_records(value: Any) -> bool:
    """Whether a value may be annotation: a list of objects or lists, or an object with one."""
    if isinstance(value, dict):
        return any(isinstance(one, list) and _has_records(one) for one in value.values())
    return isinstance(value, list) and value != [] and all(isinstance(one, (dict, list)) for one in value)


def _mention(item: Any) -> tuple[Mention, str | None]:
    """A mention, and its text if that is given."""
    if isinstance(item, list):
        item = dict(zip(_MENTION, item, strict=len(item) > len(_MENTION)))
    item = {_AS_OURS.get(key, key): value for key, value in item.items()}
    if "start" not in item and "offsets" in item:  # [12, 18] or [[12, 18]]
        item["start"], item["end"] = item["offsets"][0] if len(item["offsets"]) == 1 else item["offsets"]
    elif "start" not in item and "length" in item:
        item["start"], item["end"] = item["offset"], item["offset"] + item["length"]
    kb_id = item.get("kb_id")
    ids = item.get("ids", [kb_id] if kb_id not in (None, "", NIL) else []) or []
    composite, surface = item.get("composite", False), item.get("text", "")
    if not isinstance(ids, list) or not isinstance(composite, bool) or not isinstance(surface, str):
        raise TypeError
    start, end = whole_number(item["start"]), whole_number(item["end"])
    label = next((item[key] for key in _LABELS if key in item), "")
    label = "|".join(label) if isinstance(label, list) else str(label) if type(label) is int else text_or_empty(label)
    mention = Mention(start, end, label=label, ids=tuple(map(id_text, ids)), composite=composite)
    return mention, surface if "text" in item else None
