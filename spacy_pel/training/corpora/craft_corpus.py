"""CRAFT: full texts as JSON lines and all ontologies' annotations as one table, given together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from ...corpora.formats.base import CorpusReaderBase, whole_number, wrong_format
from ...corpora.policy import split_ids
from ...errors import quoted, shortened
from ...registry import registry
from ...types import Document
from ...util import numbered_jsonl, read_lines
from ...util.parsing import read_rows

COLUMNS = ["ontology", "split", "pmid", "spans", "id", "label", "text"]
Part = Literal["train", "dev", "test"]
Row = tuple[str, dict[str, str]]  # its file and line, and its fields


@registry.pel_corpus_readers("spacy-pel.CraftCorpus.v1")
@dataclass(kw_only=True, eq=False)
class CraftCorpus(CorpusReaderBase):
    """Reads ``craft_texts.jsonl`` (pmid, split, text) with ``craft_concepts.tsv`` (ontology, split, pmid,
    spans "start,end;start,end", id, label, text), distinguished by their endings. Counted in ``report`` as
    ``no_text``: annotations of documents that the texts lack.

    Args:
        ontologies: keep these annotations, e.g. ["CL", "UBERON"]; None = all.
        part: keep the documents of "train", "dev" or "test"; None = all.
        label: the label of every mention; None = the ontology.
        strip_prefix: taken off the ids that have it.
        strict: a mention whose text differs from the text at its offsets is an error.
    """

    ontologies: list[str] | None = None
    part: Part | None = None

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        names = {path: path.name.removesuffix(".gz") for path in paths}
        texts = [path for path in paths if names[path].endswith(".jsonl")]
        tables = [path for path in paths if names[path].endswith(".tsv")]
        if not texts or not tables or len(texts) + len(tables) < len(paths):
            expected = "a .jsonl file of texts and a .tsv file of concepts"
            raise wrong_format("craft", ", ".join(map(str, paths)), expected, "other files")
        rows: dict[str, list[Row]] = {}
        for where, row in chain.from_iterable(map(_rows, tables)):
            if self.ontologies is None or row["ontology"] in self.ontologies:
                rows.setdefault(row["pmid"], []).append((where, row))
        for path in texts:
            for number, record in numbered_jsonl(path):
                pmid, split, text = record.get("pmid"), record.get("split"), record.get("text")
                if type(pmid) not in (str, int) or not isinstance(split, str) or not isinstance(text, str):
                    expected = "text for the keys pmid, split and text"
                    raise wrong_format("craft", f"{path}, line {number}", expected, quoted(record))
                annotations = rows.pop(str(pmid), [])
                if self.part in (None, split):
                    document = Document(str(pmid), text, meta={"split": split})
                    for where, row in annotations:
                        self._mention(document, row, where)
                    yield document
        for where, row in chain.from_iterable(rows.values()):
            if self.part in (None, row["split"]):
                self.lose("no_text", where, f"a text of the document {shortened(row['pmid'])}")

    def _mention(self, document: Document, row: dict[str, str], where: str) -> None:
        try:
            pairs = [span.split(",") for span in row["spans"].split(";")]
            # two annotations have an empty part
            spans = [(whole_number(start), whole_number(end)) for start, end in pairs if start != end]
        except ValueError as err:
            raise wrong_format("craft", where, "spans like 10,20;25,30", quoted(row["spans"])) from err
        ids, _ = split_ids(row["id"], joiners="|", strip_prefix=self.strip_prefix)
        self.add(document, spans, row["text"], label=row["ontology"], ids=ids, where=where)


def _rows(path: Path) -> Iterator[Row]:
    return ((str(place), row) for _, place, row in read_rows(path, read_lines(path), {"concepts": COLUMNS}))
