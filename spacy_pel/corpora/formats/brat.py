"""BRAT standoff: pairs of .txt and .ann files. See https://brat.nlplab.org/standoff.html"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ...errors import quoted
from ...registry import registry
from ...types import NIL, Document
from ...util import atomic_path, read_lines, read_text
from ..offsets import fits
from ..policy import has_id, looks_like_id, split_ids
from .base import CorpusReaderBase, one_line, plain_lines, whole_number, wrong_format

_OTHER = {"R": "relations", "*": "relations", "E": "events", "A": "attributes", "M": "attributes"}
_NOTE = re.compile(r"[\s;,|]+")  # between the ids of a note
_NAME = re.compile(r"\.(txt|ann)(\.gz)?$")
_ENDINGS = (".txt", ".ann", ".txt.gz", ".ann.gz")
_OWN = "KB:"  # the prefix that we write before ids without one: BRAT wants DATABASE:ID
Span = tuple[int, int]
Row = tuple[str, list[str]]  # its file and line, and its columns


@registry.pel_corpus_readers("spacy-pel.BratCorpus.v1")
class BratCorpus(CorpusReaderBase):
    r"""Reads folders of .txt and .ann files with the same names, also in subfolders, or such files.

    A mention is a line ``T1``. Its ids are those of its lines ``N`` (``N1, Reference T1 UMLS:C0010674,
    name``) or, without one, of its notes (``#1, AnnotatorNotes T1, C0010674``). A mention without ids is NIL.
    Other notes, relations, events, attributes and unknown lines are skipped and counted. Parts of a mention
    with only white space between them are one part. What ``link`` writes is read back: the prefix ``KB:`` is
    taken off, and ``%20`` in ids and file names is a blank.

    Offsets count characters. A line end is one of them, unless more mentions fit when ``\r\n`` are two.

    Attributes:
        label: the label of every mention; None = the type.
        strip_prefix: taken off the ids that have it, e.g. "UMLS:".
        strict: a mention whose text differs from the text at its offsets is an error.
    """

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        pairs = _pairs(paths)
        if not any("ann" in files for files in pairs.values()):
            raise wrong_format("brat", ", ".join(map(str, paths)), "files .ann beside files .txt", "none")
        for stem, files in sorted(pairs.items()):
            if "txt" not in files:
                raise wrong_format("brat", str(files["ann"]), f"a text {stem.name}.txt beside it", "none")
            if "ann" not in files:
                self.count("without_annotations")
            rows = list(_rows(files["ann"])) if "ann" in files else []
            yield self._document(Document(unquote(stem.name), read_text(files["txt"])), rows)

    def _document(self, document: Document, rows: list[Row]) -> Document:
        mentions: dict[str, tuple[str, str, list[Span], str]] = {}
        ids: dict[str, list[str]] = {}
        notes: dict[str, list[str]] = {}
        for where, row in rows:
            kind, words = row[0][:1], row[1].split() if len(row) > 1 else []
            if kind == "T":
                mentions[row[0]] = where, *_place(row, where), row[2]
            elif kind == "N" and len(words) == 3:
                ids.setdefault(words[1], []).append(words[2])
            elif kind == "#" and len(words) == 2 and len(row) > 2 and _holds_ids(row[2]):
                notes.setdefault(words[1], []).extend(_NOTE.split(row[2].strip()))
            else:
                self.count("notes" if kind == "#" else _OTHER.get(kind, "unknown_lines"))
                if kind != "#" and kind not in _OTHER:
                    self.unread[f"lines such as {quoted(row[0])}"] += 1
        document.text = _text(document.text, [(spans, surface) for _, _, spans, surface in mentions.values()])
        for key, (where, label, spans, surface) in mentions.items():
            entity_ids, composite = split_ids("|".join(notes.get(key, [])), strip_prefix=self.strip_prefix)
            if key in ids:
                references = [unquote(reference).removeprefix(_OWN) for reference in ids[key] if has_id(reference)]
                entity_ids = tuple(dict.fromkeys(reference.removeprefix(self.strip_prefix) for reference in references))
                composite = False
            spans = _joined(document.text, spans)
            self.add(document, spans, surface, label=label, ids=entity_ids, composite=composite, where=where)
        return document


def _pairs(paths: Sequence[Path]) -> dict[Path, dict[str, Path]]:
    """The text and the annotations of each document."""
    pairs: dict[Path, dict[str, Path]] = {}
    for path in paths:
        if not (path.is_dir() or _NAME.search(path.name)):
            raise wrong_format("brat", str(path), "a folder, or a file .txt or .ann", "another file")
        beside = [path.with_name(_NAME.sub("", path.name) + ending) for ending in _ENDINGS]
        for file in path.rglob("*") if path.is_dir() else [path, *filter(Path.is_file, beside)]:
            match = _NAME.search(file.name)
            if match and not file.name.startswith("."):
                pairs.setdefault(file.with_name(_NAME.sub("", file.name)), {})[match[1]] = file
    return pairs


def _rows(path: Path) -> Iterator[Row]:
    for number, line in read_lines(path):
        if line.strip():
            yield f"{path}, line {number}", line.split("\t", 2)


def _place(row: list[str], where: str) -> tuple[str, list[Span]]:
    """Type and parts of a mention, from "Disorder 0 5;10 15"."""
    try:
        _, middle, _ = row
        label, numbers = middle.split(None, 1)
        pairs = map(str.split, numbers.split(";"))
        spans = [(whole_number(start), whole_number(end)) for start, end in pairs]
    except ValueError as err:
        expected = "a mention with tabs: T1, Type 0 5;10 15, text"
        raise wrong_format("brat", where, expected, quoted("\t".join(row))) from err
    return label, spans


def _holds_ids(note: str) -> bool:
    """Whether a note is no remark, but ids or NIL."""
    parts = [part for field in _NOTE.split(note.strip()) for part in field.split("+")]
    return note.strip() == NIL or all(looks_like_id(part) and len(part) > 2 for part in parts)


def _text(text: str, mentions: Iterable[tuple[list[Span], str]]) -> str:
    """The text with the line ends that fit more of the mentions."""
    texts = [text.replace("\r\n", "\n"), text]
    return max(texts, key=lambda one: sum(fits(one, spans, surface) for spans, surface in mentions))


def _joined(text: str, spans: list[Span]) -> list[Span]:
    """The parts of a mention, joined where only white space separates them,
    as in a mention of two lines."""
    joined = spans[:1]
    for start, end in spans[1:]:
        if 0 <= joined[-1][1] <= start and not text[joined[-1][1] : start].strip():
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def write_brat(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as a folder of .txt and .ann files, atomically.

    A mention is a line ``T1``, its id a line ``N1`` with the entity's name. An id without a colon gets the
    prefix ``KB:``, as BRAT wants a database; so does an id that starts with ``KB:``, as the reader takes one
    off. Its codes in other vocabularies are a note. A NIL mention has a note ``NIL`` instead; one that the linker
    did not look at has neither. Offsets count characters (Unicode code points) of the .txt file, which are those of
    the text: tabs, and line ends other than newlines, become blanks, one each. A mention that goes on in the next
    line has a fragment for each line, as BRAT itself writes it.

    A file is named by the document's id: characters other than letters, digits, ``.``, ``-`` and ``_`` are
    written as %XX, and where two documents have the same id, the second is ``id~2``.

    Args:
        path: the folder.
        records: lines of ``link``: "id", "text" and "mentions".

    Raises:
        PelError: if the folder cannot be written.
    """
    with atomic_path(path) as part:
        part.mkdir()
        taken: set[str] = set()
        for record in records:
            name = _file_name(record["id"], taken)
            text = plain_lines(record["text"])
            _write(part / f"{name}.txt", text)
            _write(part / f"{name}.ann", "".join(f"{line}\n" for line in _lines(text, record["mentions"])))


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf8"))  # without other line ends on Windows


def _lines(text: str, mentions: Iterable[dict[str, Any]]) -> Iterator[str]:
    for number, mention in enumerate(mentions, start=1):
        start = mention["start"]
        lines = re.finditer(r"[^\n]+", text[start : mention["end"]])
        fragments = [(start + line.start(), start + line.end()) for line in lines]
        if not fragments:
            continue
        spans = ";".join(f"{start} {end}" for start, end in fragments)
        surface = " ".join(text[start:end] for start, end in fragments)
        label = re.sub(r"[^A-Za-z0-9_-]+", "_", mention["label"]) or "Mention"
        yield f"T{number}\t{label} {spans}\t{surface}"
        kb_id = mention["kb_id"]
        if kb_id == NIL:
            yield f"#{number}\tAnnotatorNotes T{number}\t{NIL}"
        elif kb_id:
            name = " ".join(one_line(mention.get("name") or kb_id).split())
            yield f"N{number}\tReference T{number} {_reference(kb_id)}\t{name}"
            codes = [f"{key} {', '.join(some)}" for key, some in mention.get("codes", {}).items() if some]
            if codes:
                yield f"#{number}\tAnnotatorNotes T{number}\t{'; '.join(codes)}"


def _reference(kb_id: str) -> str:
    kb_id = re.sub(r"[\s%]", _percent, kb_id)  # columns are parted by blanks
    return _OWN + kb_id if ":" not in kb_id or kb_id.startswith(_OWN) else kb_id


def _percent(match: "re.Match[str]") -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf8"))


def _file_name(document_id: str, taken: set[str]) -> str:
    name = re.sub(r"[^\w.-]|^\.", _percent, document_id) or "%"
    unique, number = name, 1
    while unique.casefold() in taken:  # some file systems do not tell A from a
        number += 1
        unique = f"{name}~{number}"
    taken.add(unique.casefold())
    return unique
