"""PubTator. Read: MedMentions, BC5CDR, NCBI Disease and similar ones. Written: title, abstract, a line per mention.

Written by hand: no maintained package reads PubTator with the variants of these corpora (several ids of a
mention, composite mentions, relations between the mentions) and names the line of an error.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import Errors, PelError
from ...registry import registry
from ...types import NIL, TITLE_LENGTH, Document
from ...util import read_lines, write_text
from ..policy import split_ids
from .base import NO_ID, CorpusReaderBase, one_line, whole_number

_TEXT_LINE = re.compile(r"([^|\t]+)\|([A-Za-z]\w*)\|(.*)", re.DOTALL)
Line = tuple[int, str]


@registry.pel_corpus_readers("spacy-pel.PubtatorCorpus.v1")
class PubtatorCorpus(CorpusReaderBase):
    """Reads ``PMID|t|title``, ``PMID|a|abstract`` and ``PMID, start, end, text, type, ids`` lines.

    The text is the title, a blank and the abstract, so that the file's offsets hold; further sections
    (``PMID|b|...``) follow alike. The length of the title is kept in the document's meta, as "title_length".
    Lines of relations (``PMID, CID, id, id``, also wider ones) are skipped and counted. A title line begins a
    document; blank lines may be anywhere. Ids: see ``policy.py``.

    Attributes:
        label: the label of every mention; None = the file's type column.
        strip_prefix: taken off the ids that have it, e.g. "MESH:" or "UMLS:".
        strict: a mention whose text differs from the text at its offsets is an error.
    """

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            for block in _blocks(path):
                yield self._document(block, path)

    def _document(self, block: list[Line], path: Path) -> Document:
        title, pmid = "", ""
        sections: list[tuple[str, str]] = []
        rows: list[tuple[int, list[str]]] = []
        for number, line in block:
            match = _TEXT_LINE.fullmatch(line)
            if match is None:
                rows.append((number, line.split("\t")))
            elif (pmid and match[1] != pmid) or (match[2] == "a" and "a" in dict(sections)):
                raise _bad_line(f"{path}, line {number}", pmid, line)
            elif match[2] == "t":
                pmid, _, title = match.groups()
            else:
                pmid = match[1]
                sections.append((match[2], match[3]))
        document = Document(pmid.strip(), " ".join([title, *(text for _, text in sections)]))
        document.meta[TITLE_LENGTH] = len(title)  # where a writer parts them again
        for number, row in rows:
            self._row(document, row, f"{path}, line {number}")
        return document

    def _row(self, document: Document, row: list[str], where: str) -> None:
        if _is_relation(row, document.text):
            self.count("relations")
            return
        try:
            start, end, surface, kind = whole_number(row[1]), whole_number(row[2]), row[3], row[4].strip()
        except (IndexError, ValueError) as err:
            raise _bad_line(where, document.id, "\t".join(row)) from err
        if row[0].strip() != document.id:
            raise _bad_line(where, document.id, "\t".join(row))
        ids, plus = split_ids(row[5] if len(row) > 5 else "", strip_prefix=self.strip_prefix)
        # the corpora's own marks: a type, or a column with the string of each part
        marked = kind == "CompositeMention" or (len(row) > 6 and "|" in row[6])
        composite = len(ids) > 1 and (plus or marked)
        self.add(document, [(start, end)], surface, label=kind, ids=ids, composite=composite, where=where)


def _is_relation(row: list[str], text: str) -> bool:
    """Whether a word stands in the place of the start. If the string ends where the row says,
    it is a mention with a damaged start."""
    if len(row) < 3 or not any(map(str.isalpha, row[1])):
        return False
    return not (len(row) > 4 and row[3] and row[2].isdecimal() and text.endswith(row[3], 0, int(row[2][:15])))


def _bad_line(where: str, pmid: str, got: str) -> PelError:
    return PelError(Errors.E205.format(where=where, pmid=pmid, got=got[:80]))


def _blocks(path: Path) -> Iterator[list[Line]]:
    """The numbered lines of each document, without blank ones. A title line begins a new one, and so does
    another section of another document after a blank line."""
    block: list[Line] = []
    pmid, after_blank = "", False
    for number, line in read_lines(path):
        if not line.strip():
            after_blank = True
            continue
        match = _TEXT_LINE.fullmatch(line)
        if block and match and (match[2] == "t" or (after_blank and match[1] != pmid)):
            yield block
            block = []
        if match and not block:
            pmid = match[1]
        elif not block:
            raise _bad_line(f"{path}, line {number}", "(none yet)", line)
        block.append((number, line))
        after_blank = False
    if block:
        yield block


_LINE_END = re.compile(r"[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")  # those of str.splitlines
_SENTENCE_END = re.compile(r"(?<=[.?!])\s")


def write_pubtator(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Write linked documents as PubTator, atomically; gzipped if the name ends in .gz.

    The title is that of the PubTator file from which the text comes ("title_length" in its meta). Otherwise
    it is the first line of a text or, if it has one line, its first sentence; a text of one sentence has no
    abstract. Offsets are those of the text: tabs and line ends become blanks, one each. The last column is
    the id, or ``-`` if there is none.

    Args:
        path: the file.
        records: lines of ``link``: "id", "text" and "mentions".

    Raises:
        PelError: if the file cannot be written.
    """
    with write_text(path) as file:
        for record in records:
            file.writelines(f"{line}\n" for line in _lines(record))


def _title_end(record: dict[str, Any], text: str) -> int:
    length = (record.get("meta") or {}).get(TITLE_LENGTH)
    if type(length) is int and 0 <= length <= len(text) and text[length : length + 1] in (" ", ""):
        return length
    end = _LINE_END.search(record["text"]) or _SENTENCE_END.search(text)
    return end.start() if end else len(text)


def _lines(record: dict[str, Any]) -> Iterator[str]:
    name = re.sub(r"[\s|]", "_", record["id"])
    text = one_line(record["text"])
    cut = _title_end(record, text)
    yield f"{name}|t|{text[:cut]}"
    if cut < len(text):
        yield f"{name}|a|{text[cut + 1 :]}"  # a reader joins both by the blank that is left out
    for mention in record["mentions"]:
        start, end, kb_id = mention["start"], mention["end"], mention["kb_id"]
        entity_id = NO_ID if kb_id in ("", NIL) else one_line(kb_id)
        yield "\t".join([name, str(start), str(end), text[start:end], one_line(mention["label"]), entity_id])
    yield ""
