"""CRAFT: full texts as JSON lines and all ontologies' annotations as one table, given together."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from ...errors import Errors, PelError, quoted, shortened
from ...registry import registry
from ...types import Document
from ...util import numbered_jsonl, read_lines
from ..policy import split_ids
from .reader_base import CorpusReaderBase
from .values import whole_number

COLUMNS = ["ontology", "split", "pmid", "spans", "id", "label", "text"]
Part = Literal["train", "dev", "test"]
Row = tuple[str, dict[str, str]]  # its file and line, and its fields


@registry.pel_corpus_readers("spacy-pel.CraftCorpus.v1")
class CraftCorpus(CorpusReaderBase):
    """Reads ``craft_texts.jsonl`` (pmid, split, text) with ``craft_concepts.tsv`` (ontology, split, pmid,
    spans "start,end;start,end", id, label, text), distinguished by their endings. Counted in ``report`` as
    ``no_text``: annotations of documents that the texts lack.

    Args:
        ontologies: keep these annotations, e.g. ["CL", "UBERON"]; None = all.
        part: keep the documents of "train", "dev" or "test"; None = all.
        discontinuous: "cover" = from the first part to the last, "drop" = leave them out.
        label: the label of every mention; None = the ontology.
        strip_prefix: taken off the ids that have it.
        strict: a mention whose text differs from the text at its offsets is an error.
    """

    def __init__(
        self,
        *,
        ontologies: list[str] | None = None,
        part: Part | None = None,
        discontinuous: Literal["cover", "drop"] = "cover",
        label: str | None = None,
        strip_prefix: str = "",
        strict: bool = False,
    ) -> None:
        super().__init__(label=label, strip_prefix=strip_prefix, strict=strict)
        self.ontologies = None if ontologies is None else frozenset(ontologies)
        self.part = part
        self.discontinuous = discontinuous

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        names = {path: path.name.removesuffix(".gz") for path in paths}
        texts = [path for path in paths if names[path].endswith(".jsonl")]
        tables = [path for path in paths if names[path].endswith(".tsv")]
        if not texts or not tables or len(texts) + len(tables) < len(paths):
            raise self._unexpected(
                ", ".join(map(str, paths)), "a .jsonl file of texts and a .tsv file of concepts", "other files"
            )
        rows = self._rows(tables)
        for path in texts:
            for number, record in numbered_jsonl(path):
                where = f"{path}, line {number}"
                if not {"pmid", "split", "text"} <= record.keys():
                    raise self._unexpected(where, "the keys pmid, split and text", quoted(sorted(record)))
                pmid, split, text = record["pmid"], record["split"], record["text"]
                if type(pmid) not in (str, int) or not isinstance(split, str) or not isinstance(text, str):
                    raise self._unexpected(where, "text for pmid, split and text", quoted(record))
                annotations = rows.pop(str(pmid), [])
                if self.part is not None and split != self.part:
                    continue
                document = Document(str(pmid), text, meta={"split": split})
                for row in annotations:
                    self._mention(document, row)
                yield document
        for pmid, left in rows.items():
            self._no_text(pmid, left)

    def _rows(self, tables: Sequence[Path]) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = {}
        for path in tables:
            for number, line in read_lines(path):
                fields = line.split("\t")
                if number == 1:
                    if fields != COLUMNS:
                        raise self._unexpected(str(path), f"the columns {COLUMNS}", quoted(fields))
                    continue
                where = f"{path}, line {number}"
                if len(fields) != len(COLUMNS):
                    raise self._unexpected(where, f"{len(COLUMNS)} fields", f"{len(fields)}")
                row = dict(zip(COLUMNS, fields, strict=True))
                if self.ontologies is None or row["ontology"] in self.ontologies:
                    rows.setdefault(row["pmid"], []).append((where, row))
        return rows

    def _no_text(self, pmid: str, left: Sequence[Row]) -> None:
        for where, fields in left:
            if self.part is not None and fields["split"] != self.part:
                continue
            if self.strict:
                raise self._unexpected(where, f"a text of the document {shortened(pmid)}", "none")
            self.count("mentions")
            self.count("no_text")
            self.check.drop(f"{where}: expected a text of the document {shortened(pmid)}, got none")

    def _mention(self, document: Document, row: Row) -> None:
        where, fields = row
        try:
            spans = []
            for span in fields["spans"].split(";"):
                start, end = span.split(",")
                if start != end:  # two annotations have an empty part
                    spans.append((whole_number(start), whole_number(end)))
        except ValueError as err:
            raise self._unexpected(where, "spans like 10,20;25,30", quoted(fields["spans"])) from err
        if len(spans) > 1 and self.discontinuous == "drop":
            self.count("discontinuous_dropped")
            return
        ids, _ = split_ids(fields["id"], joiners="|", strip_prefix=self.strip_prefix)
        self.add(document, spans, fields["text"], label=fields["ontology"], ids=ids, where=where)

    def _unexpected(self, where: str, expected: str, got: str) -> PelError:
        return PelError(Errors.E207.format(where=where, expected=expected, got=got, reader="craft"))
