"""CoNLL: a token and its tag a line, as AnatEM, BC5CDR and JNLPBA are published for the training of taggers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import NonNegativeInt

from ...errors import quoted
from ...registry import registry
from ...types import Document
from ...util import read_lines
from ..policy import split_ids
from .base import CorpusReaderBase, stem_of, wrong_format

_TAG = re.compile(r"O|(?P<place>[BIESLUMW])(?:[-_](?P<label>\S+))?")
# "-DOCSTART- (1 EU)", "###MEDLINE:95369245", "# newdoc id = 3"
_MARK = re.compile(
    r"-DOCSTART-(?:[^(]*\((?P<start>[^)]*)\))?.*|### ?(?:\w+:)?(?P<id>\S+)|# newdoc(?: id = (?P<new>.+))?"
)
_COMMENT = re.compile(r"# \w+ = ")  # of CoNLL-U
Row = tuple[int, list[str]]  # a line and its cells


@registry.pel_corpus_readers("spacy-pel.ConllCorpus.v1")
@dataclass(kw_only=True, eq=False)
class ConllCorpus(CorpusReaderBase):
    """Reads a token and its tag a line, with tabs, or else blanks, between the columns; a blank line ends a sentence.

    Tags are ``O``, ``B-Disease``, ``I-Disease`` (IOB, IOB2) and ``E-``, ``S-`` (BIOES) or ``L-``, ``U-`` (BILOU), or
    without a label. The files lack the texts: tokens and sentences are joined by blanks, and offsets count in what
    results. A line ``-DOCSTART-``, ``###MEDLINE:95369245`` or ``# newdoc id = 3`` begins a document, named by it or by
    the file and a number; in a file without such lines, each sentence is a document.

    Attributes:
        tag_column: counted from 0, before the token then; None = the last one that holds tags alone.
        id_column: the column of entity ids, at the first token of a mention; None = the one after the tags, if there
            is one.
        label: the label of every mention; None = that of the tags.
        strip_prefix: taken off the ids that have it, e.g. "MESH:".
    """

    strict: bool = field(default=False, init=False)  # the text is the file's own
    tag_column: NonNegativeInt | None = None
    id_column: NonNegativeInt | None = None

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            documents = _documents(path)
            rows = [row for _, sentences in documents for sentence in sentences for row in sentence]
            tags = self._tag_column(path, rows)
            ids = max(tags, 1) + 1 if self.id_column is None else self.id_column
            for number, (name, sentences) in enumerate(documents, start=1):
                document = Document(name or f"{stem_of(path)}-{number}", "")
                for sentence in sentences:
                    self._sentence(document, sentence, path, tags, ids)
                yield document

    def _tag_column(self, path: Path, rows: list[Row]) -> int:
        """Raises:
        PelError: if no column holds tags; names a line.
        """
        width = max((len(cells) for _, cells in rows), default=2)
        columns = range(max(width, 2) - 1, 0, -1) if self.tag_column is None else [self.tag_column]
        tags_in = {at: [cells[at] if max(at, 1) < len(cells) else "" for _, cells in rows] for at in columns}
        for unlike in ("O", ""):  # one with mentions, if there is one
            for at, tags in tags_in.items():
                if all(map(_TAG.fullmatch, tags)) and set(tags) != {unlike}:
                    return at
        faults = (row for row, tag in zip(rows, tags_in[columns[-1]], strict=True) if not _TAG.fullmatch(tag))
        line, cells = next(faults)
        expected = "a token and a tag such as O, B-Disease or I-Disease, with a tab between"
        raise wrong_format("conll", f"{path}, line {line}", expected, quoted("\t".join(cells)))

    def _sentence(self, document: Document, rows: list[Row], path: Path, tags: int, ids: int) -> None:
        mention: tuple[int, str, str, str] | None = None  # start, label, id field, place
        token = int(tags == 0)
        for line, cells in [*rows, (0, [""] * tags + ["O"])]:
            tag = _TAG.fullmatch(cells[tags])
            place, label = (tag["place"] or "O", tag["label"] or "") if tag else ("O", "")
            if mention and (place in "OBSUW" or label != mention[1]):
                start, of, field, where = mention
                found, all_meant = split_ids(field, strip_prefix=self.strip_prefix)
                spans, surface = [(start, len(document.text))], document.text[start:]
                self.add(document, spans, surface, label=of, ids=found, composite=all_meant, where=where)
                mention = None
            if line:
                document.text += " " * bool(document.text) + cells[token]
                if place != "O" and mention is None:
                    field = cells[ids] if ids < len(cells) and cells[ids] not in ("_", "O") else ""
                    mention = len(document.text) - len(cells[token]), label, field, f"{path}, line {line}"


def _documents(path: Path) -> list[tuple[str, list[list[Row]]]]:
    """The name, or "", and the sentences of each document."""
    sentences: list[list[Row]] = [[]]
    documents = [("", sentences)]
    for number, line in read_lines(path):
        line = line.strip(" ")
        if mark := _MARK.fullmatch(line):
            sentences = [[]]
            documents.append((mark["start"] or mark["id"] or mark["new"] or "", sentences))
        elif not line:
            sentences.append([])
        elif not _COMMENT.match(line):
            cells = line.split("\t") if "\t" in line else line.split()
            sentences[-1].append((number, [cell.strip() for cell in cells]))
    if len(documents) == 1:
        documents = [("", [sentence]) for sentence in sentences]
    return [(name, found) for name, some in documents if (found := list(filter(None, some)))]
