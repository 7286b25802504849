"""Annotated mentions without their texts: a table with a row for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import quoted
from ...registry import registry
from ...types import Document
from ...util import read_lines
from ...util.files import read_cells
from ..policy import split_ids
from .reader_base import CorpusReaderBase, wrong_format

# what the columns may be called
_COLUMNS = {"document": ("document", "pmid"), "id": ("id", "cui"), "mention": ("mention", "text")}
_SPLIT = {"split": ("split",)}
_BETWEEN = ", "


@registry.pel_corpus_readers("spacy-pel.MentionList.v1")
@dataclass(kw_only=True, eq=False)
class MentionList(CorpusReaderBase):
    """Reads a tab-separated table with the columns document (or pmid), id (or cui), mention (or text) and
    perhaps split, in any order. Other columns are ignored.

    The text of a document is its mentions in their order, joined by ", ". From that, ``kb merge`` and
    ``index`` learn names, counts of surface forms and topics as from any corpus. Do not train an encoder or
    a detector on it, and do not evaluate on it.

    Args:
        part: keep the rows with this in the column split, e.g. "dev"; None = all.
        label: the label of every mention.
        strip_prefix: taken off the ids that have it, e.g. "UMLS:".
    """

    part: str | None = None
    label: str | None = "ENTITY"
    strict: bool = field(default=False, init=False)  # the text is made of the mentions

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            documents: dict[str, list[tuple[str, str]]] = {}  # id -> mentions with their ids
            for document, entity_ids, mention in self._rows(path):
                documents.setdefault(document, []).append((mention, entity_ids))
            for document_id, mentions in documents.items():
                yield self._document(document_id, mentions, path)

    def _rows(self, path: Path) -> Iterator[tuple[str, str, str]]:
        """Document, ids and mention of each row of the part."""
        rows = read_cells(path, read_lines(path), quotes=False)
        _, header = next(rows, (1, []))
        columns = {**_COLUMNS, **(_SPLIT if self.part is not None else {})}
        known = {column: [name for name in names if name in header] for column, names in columns.items()}
        if missing := [" or ".join(columns[column]) for column in columns if not known[column]]:
            expected = f"a header with {', '.join(missing)}"
            raise wrong_format("mentionlist", f"{path}, line 1", expected, quoted(header))
        numbers = {column: header.index(names[0]) for column, names in known.items()}
        for number, cells in rows:
            if len(cells) != len(header):
                expected = f"{len(header)} cells as in the header"
                raise wrong_format("mentionlist", f"{path}, line {number}", expected, str(len(cells)))
            row = {column: " ".join(cells[place].split()) for column, place in numbers.items()}
            if row.get("split") == self.part:
                yield row["document"], row["id"], row["mention"]

    def _document(self, document_id: str, mentions: Sequence[tuple[str, str]], path: Path) -> Document:
        document = Document(document_id, _BETWEEN.join(mention for mention, _ in mentions))
        start = 0
        for mention, given in mentions:
            span = start, start + len(mention)
            ids, composite = split_ids(given, strip_prefix=self.strip_prefix)
            where = f"{path} ({document_id})"
            self.add(document, [span], mention, label="", ids=ids, composite=composite, where=where)
            start = span[1] + len(_BETWEEN)
        return document
