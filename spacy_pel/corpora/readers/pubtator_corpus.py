"""PubTator files: MedMentions, BC5CDR, NCBI Disease and similar ones.

Written by hand: no maintained package reads PubTator with the variants of these corpora (several ids of a
mention, composite mentions, relations between the mentions) and names the line of an error.
"""

import re
from pathlib import Path
from typing import Dict, Iterator, List, Sequence, Tuple

from ...errors import Errors, PelError
from ...registry import registry
from ...types import TITLE_LENGTH, Document
from ...util import read_lines
from ..policy import split_ids
from .reader_base import CorpusReaderBase
from .values import whole_number

_TEXT_LINE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
Line = Tuple[int, str]


@registry.pel_corpus_readers("spacy-pel.PubtatorCorpus.v1")
class PubtatorCorpus(CorpusReaderBase):
    """Reads ``PMID|t|title``, ``PMID|a|abstract`` and ``PMID, start, end, text, type, ids`` lines.

    The text is the title, a blank and the abstract, so that the file's offsets hold; the length of the
    title is kept in the document's meta, as "title_length". Lines
    of relations (``PMID, CID, id, id``) are skipped and counted. Ids: see ``policy.py``.

    label (Optional[str]): the label of every mention; None = the file's type column.
    strip_prefix (str): taken off the ids that have it, e.g. "MESH:" or "UMLS:".
    strict (bool): a mention whose text differs from the text at its offsets is an error.
    """

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            for block in _blocks(path):
                yield self._document(block, path)

    def _document(self, block: List[Line], path: Path) -> Document:
        texts: Dict[str, str] = {}
        rows: List[Tuple[int, List[str]]] = []
        pmid = ""
        for number, line in block:
            match = _TEXT_LINE.fullmatch(line)
            if match and not rows:
                if match[2] in texts or (texts and match[1] != pmid):  # one of them would be lost
                    raise _bad_line(f"{path}, line {number}", pmid, line)
                pmid, kind, text = match.groups()
                texts[kind] = text
            else:
                rows.append((number, line.split("\t")))
        title = texts.get("t", "")
        document = Document(pmid.strip(), " ".join([title, *([texts["a"]] if "a" in texts else [])]))
        document.meta[TITLE_LENGTH] = len(title)  # where a writer parts them again
        for number, row in rows:
            self._row(document, row, f"{path}, line {number}")
        return document

    def _row(self, document: Document, row: List[str], where: str) -> None:
        if len(row) == 4 and not row[1].strip().isdigit():
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


def _bad_line(where: str, pmid: str, got: str) -> PelError:
    return PelError(Errors.E205.format(where=where, pmid=pmid, got=got[:80]))


def _blocks(path: Path) -> Iterator[List[Line]]:
    """The numbered lines of each document; a title line or a blank line begins a new one."""
    block: List[Line] = []
    for number, line in read_lines(path):
        match = _TEXT_LINE.fullmatch(line)
        if block and (not line.strip() or (match and match.group(2) == "t")):
            yield block
            block = []
        if line.strip():
            if not block and not match:
                raise _bad_line(f"{path}, line {number}", "(none yet)", line)
            block.append((number, line))
    if block:
        yield block
