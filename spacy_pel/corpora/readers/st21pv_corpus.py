"""MedMentions ST21pv in a tokenised form: one JSON line per document, with sentences and token spans."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import Errors, PelError
from ...registry import registry
from ...types import Document
from ...util import numbered_jsonl
from ...util.files import DATA_ERRORS
from ..policy import split_ids
from .detokenize import glue, spaces_in
from .reader_base import CorpusReaderBase, id_text


@registry.pel_corpus_readers("spacy-pel.St21pvCorpus.v1")
class St21pvCorpus(CorpusReaderBase):
    """Reads ``{"pmid", "sentences": [{"tokens", "mentions": [{"start", "end", "cui", "text"}]}]}``.

    Text is rebuilt from the tokens (see ``detokenize.py``), sentences are joined by one
    blank; a mention that the source's sentence splitter cut in two is found across the cut. This
    copy of the corpus lacks the sentences without a mention, and its abbreviations are
    expanded.

    Args:
        label: the label of every mention (the copy has no semantic types).
        strip_prefix: taken off the ids that have it, e.g. "UMLS:".
        strict: a mention whose tokens do not give its listed string is an error.
    """

    def __init__(self, *, label: str | None = "ENTITY", strip_prefix: str = "", strict: bool = False) -> None:
        super().__init__(label=label, strip_prefix=strip_prefix, strict=strict)

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            for number, record in numbered_jsonl(path):
                where = f"{path}, line {number}"
                try:
                    yield self._document(record, where)
                except DATA_ERRORS as err:
                    if isinstance(err, PelError):
                        raise
                    raise PelError(Errors.E203.format(where=where, got=repr(err))) from err

    def _document(self, record: dict[str, Any], where: str) -> Document:
        document = Document(id_text(record["pmid"]), "")
        found = []
        for sentence in record["sentences"]:
            tokens: list[str] = sentence["tokens"]
            fixed: dict[int, str] = {}
            for given in sentence["mentions"]:
                spaces = spaces_in(tokens[given["start"] : given["end"]], given["text"])
                fixed.update(enumerate(spaces, start=given["start"]))
            piece, offsets = glue(tokens, fixed)
            shift = len(document.text) + 1 if document.text else 0
            document.text = f"{document.text} {piece}" if document.text else piece
            for given in sentence["mentions"]:
                start, end = offsets[given["start"]][0], offsets[given["end"] - 1][1]
                found.append((start + shift, end + shift, given["text"], given["cui"]))
        for start, end, surface, cui in found:
            ids, _ = split_ids(cui, strip_prefix=self.strip_prefix)
            self.add(document, [(start, end)], surface, label="", ids=ids, where=f"{where} ({document.id})")
        return document
