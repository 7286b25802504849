"""PubTator files: MedMentions, BC5CDR, NCBI Disease and others of the kind."""

import re
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Document, Mention
from ..util import open_text
from .offsets import OffsetCheck, new_report
from .policy import split_ids, tidy

_TEXT_LINE = re.compile(r"([^|\t]+)\|([ta])\|(.*)", re.DOTALL)
Line = Tuple[int, str]


@registry.pel_corpus_readers("spacy-pel.PubtatorCorpus.v1")
def make_pubtator_corpus(
    *, label: Optional[str] = None, strip_prefix: str = "", strict: bool = False
) -> "PubtatorCorpus":
    """Build a reader of PubTator files.

    label (Optional[str]): the label of every mention; None = the file's type column.
    strip_prefix (str): taken off the ids that have it, e.g. "MESH:" or "UMLS:".
    strict (bool): a mention whose string does not stand at its offsets is an error.
    RETURNS (PubtatorCorpus): the reader.
    """
    return PubtatorCorpus(label=label, strip_prefix=strip_prefix, strict=strict)


class PubtatorCorpus:
    """Reads ``PMID|t|title``, ``PMID|a|abstract`` and ``PMID, start, end, text, type, ids`` lines.

    The text is the title, a blank and the abstract, so that the file's offsets hold. Lines
    of relations (``PMID, CID, id, id``) are skipped and counted. Ids: see ``policy.py``.
    """

    def __init__(self, *, label: Optional[str] = None, strip_prefix: str = "", strict: bool = False) -> None:
        self.label = label
        self.strip_prefix = strip_prefix
        self.strict = strict
        self.report: Dict[str, int] = new_report()

    def __call__(self, paths: Sequence[Path]) -> Iterator[Document]:
        self.report = new_report()
        check = OffsetCheck(self.report, strict=self.strict)
        for path in paths:
            for block in _blocks(path):
                self.report["documents"] += 1
                yield self._document(block, check, path)

    def _document(self, block: List[Line], check: OffsetCheck, path: Path) -> Document:
        title, abstract = "", None
        rows: List[Tuple[int, List[str]]] = []
        pmid = ""
        for number, line in block:
            match = _TEXT_LINE.fullmatch(line)
            if match and not rows:
                pmid, kind, text = match.groups()
                if kind == "t":
                    title = text
                else:
                    abstract = text
            else:
                rows.append((number, line.split("\t")))
        text = title if abstract is None else f"{title} {abstract}"
        mentions = []
        for number, row in rows:
            where = f"{path}, line {number}"
            if row[0].strip() != pmid:
                raise PelError(Errors.E205.format(where=where, pmid=pmid, came="\t".join(row)[:80]))
            mention = self._mention(text, row, check, where)
            if mention is not None:
                mentions.append(mention)
        return Document(pmid.strip(), text, tidy(mentions, self.report))

    def _mention(self, text: str, row: List[str], check: OffsetCheck, where: str) -> Optional[Mention]:
        if len(row) == 4 and not row[1].strip().isdigit():
            self.report["relations"] = self.report.get("relations", 0) + 1
            return None
        try:
            start, end, surface, kind = int(row[1]), int(row[2]), row[3], row[4].strip()
        except (IndexError, ValueError) as err:
            raise PelError(Errors.E205.format(where=where, pmid=row[0], came="\t".join(row)[:80])) from err
        place = check(text, start, end, surface, where=where)
        if place is None:
            return None
        given = row[5] if len(row) > 5 else ""
        ids, composite = split_ids(given, strip_prefix=self.strip_prefix)
        # the corpora's own marks: a type, or a column with the string of each part
        marked = kind == "CompositeMention" or (len(row) > 6 and "|" in row[6])
        return Mention(
            *place,
            label=kind if self.label is None else self.label,
            ids=ids,
            composite=len(ids) > 1 and (composite or marked),
        )


def _blocks(path: Path) -> Iterator[List[Line]]:
    """The numbered lines of each document; a title line or a blank line begins a new one."""
    block: List[Line] = []
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            line = line.rstrip("\r\n")
            match = _TEXT_LINE.fullmatch(line)
            if block and (not line.strip() or (match and match.group(2) == "t")):
                yield block
                block = []
            if line.strip():
                if not block and not match:
                    raise PelError(
                        Errors.E205.format(
                            where=f"{path}, line {number}", pmid="PMID|t|title", came=line[:80]
                        )
                    )
                block.append((number, line))
    if block:
        yield block
