"""MedMentions ST21pv in a tokenised form: one JSON line per document, with sentences and token spans."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...corpora.formats.base import CorpusReaderBase, id_text, wrong_format
from ...corpora.policy import split_ids
from ...errors import PelError
from ...registry import registry
from ...types import Document
from ...util import numbered_jsonl
from ...util.parsing import DATA_ERRORS


@registry.pel_corpus_readers("spacy-pel.St21pvCorpus.v1")
@dataclass(kw_only=True, eq=False)
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

    label: str | None = "ENTITY"

    def read(self, paths: Sequence[Path]) -> Iterator[Document]:
        for path in paths:
            for number, record in numbered_jsonl(path):
                where = f"{path}, line {number}"
                try:
                    document = self._document(record, where)
                except PelError:
                    raise
                except DATA_ERRORS as err:
                    raise wrong_format("st21pv", where, "pmid, sentences, tokens and mentions", repr(err)) from err
                yield document

    def _document(self, record: dict[str, Any], where: str) -> Document:
        document = Document(id_text(record["pmid"]), "")
        mentions = []
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
                mentions.append((start + shift, end + shift, given["text"], given["cui"]))
        for start, end, surface, cui in mentions:
            ids, _ = split_ids(cui, strip_prefix=self.strip_prefix)
            self.add(document, [(start, end)], surface, label="", ids=ids, where=f"{where} ({document.id})")
        return document


OPENING = "([{“‘"
CLOSING = ")]}”’"
BIND_LEFT = {",", ".", ";", ":", "?", "!", "%", "'s", "'", "n't", "+", "*", "®", "™", "..", "...", "°"}
SUSPENDING = {"and", "or", "to", "versus", "vs.", "&", "as"}
HYPHENS = "-/‑"


def glue(tokens: Sequence[str], fixed: dict[int, str]) -> tuple[str, list[tuple[int, int]]]:
    """Join the tokens of a sentence.

    Args:
        tokens: the tokens.
        fixed: white space that is known, by the index of the token before it.

    Returns:
        The text and the offsets of each token.
    """
    text = ""
    offsets: list[tuple[int, int]] = []
    quote_open = False
    for index, token in enumerate(tokens):
        if index > 0:
            if index - 1 in fixed:
                text += fixed[index - 1]
            elif not _bound(tokens, index, quote_open):
                text += " "
        quote_open ^= token == '"'
        offsets.append((len(text), len(text) + len(token)))
        text += token
    return text, offsets


def spaces_in(tokens: Sequence[str], surface: str) -> list[str]:
    """The white space between tokens as the mention's string has it.

    Returns:
        One entry between each two tokens, or an empty list if the string
        does not begin with these tokens (it may be longer: some sentences were cut in two).
    """
    spaces = []
    position = 0
    for token in tokens:
        begin = surface.find(token, position)
        gap = surface[position:begin]
        if begin < 0 or gap.strip():
            return []
        spaces.append(gap)
        position = begin + len(token)
    return spaces[1:]


def _bound(tokens: Sequence[str], index: int, quote_open: bool) -> bool:
    """Is there no white space before this token?"""
    left, right = tokens[index - 1], tokens[index]
    if '"' in (left, right):
        return quote_open  # after a left quote: open = it was an opening one
    if left[-1] in OPENING or right in BIND_LEFT or right[0] in CLOSING:
        return True
    if right[0] in HYPHENS:
        return left[-1] not in ",;:.="
    if left in HYPHENS:
        before = tokens[index - 2] if index > 1 else ","
        return before[-1] not in ",;:.=" and right.lower() not in SUSPENDING
    if left[-1] in HYPHENS:
        return right.lower() not in SUSPENDING
    return len(left) > 1 and left[-1] in "<="
