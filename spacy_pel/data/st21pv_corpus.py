"""MedMentions ST21pv in a tokenised form: one JSON line a document, with sentences and token spans."""

from pathlib import Path
from typing import Any, Dict, Iterator, List, Sequence

from ..errors import Errors, PelError
from ..registry import registry
from ..types import Document, Mention
from ..util import read_jsonl
from .detokenize import glue, spaces_in
from .offsets import OffsetCheck, new_report


@registry.pel_corpus_readers("spacy-pel.St21pvCorpus.v1")
def make_st21pv_corpus(*, label: str = "ENTITY", strict: bool = False) -> "St21pvCorpus":
    """Build a reader of tokenised MedMentions.

    label (str): the label of every mention (the copy has no semantic types).
    strict (bool): a mention whose tokens do not give its listed string is an error.
    RETURNS (St21pvCorpus): the reader.
    """
    return St21pvCorpus(label=label, strict=strict)


class St21pvCorpus:
    """Reads ``{"pmid", "sentences": [{"tokens", "mentions": [{"start", "end", "cui", "text"}]}]}``.

    Text is rebuilt from the tokens (see ``detokenize.py``), sentences are joined by one
    blank. This copy of the corpus lacks the sentences without a mention, and its
    abbreviations stand expanded.
    """

    def __init__(self, *, label: str = "ENTITY", strict: bool = False) -> None:
        self.label = label
        self.strict = strict
        self.report: Dict[str, int] = new_report()

    def __call__(self, paths: Sequence[Path]) -> Iterator[Document]:
        self.report = new_report()
        check = OffsetCheck(self.report, strict=self.strict)
        for path in paths:
            for number, record in enumerate(read_jsonl(path), start=1):
                self.report["documents"] += 1
                yield self._document(record, check, f"{path}, document {number}")

    def _document(self, record: Dict[str, Any], check: OffsetCheck, where: str) -> Document:
        text = ""
        spans = []  # (start, end, string, id); a string may run on into the next sentence
        try:
            for sentence in record["sentences"]:
                tokens: List[str] = sentence["tokens"]
                fixed: Dict[int, str] = {}
                for given in sentence["mentions"]:
                    inner = tokens[given["start"] : given["end"]]
                    spaces = spaces_in(inner, given["text"])
                    fixed.update(enumerate(spaces, start=given["start"]))
                piece, offsets = glue(tokens, fixed)
                shift = len(text) + 1 if text else 0
                text = f"{text} {piece}" if text else piece
                for given in sentence["mentions"]:
                    start, end = offsets[given["start"]][0], offsets[given["end"] - 1][1]
                    spans.append((start + shift, end + shift, given["text"], given["cui"]))
            pmid = str(record["pmid"])
        except (KeyError, TypeError, IndexError) as err:
            raise PelError(Errors.E203.format(where=where, came=repr(err))) from err
        mentions = []
        for start, end, surface, entity_id in spans:
            place = check(text, start, end, surface, where=f"{where} ({pmid})")
            if place is not None:
                mentions.append(Mention(*place, label=self.label, ids=(entity_id,)))
        return Document(pmid, text, mentions)
