"""Steps that change texts before training (Le & Nguyen 2023): a document's mentions move with its text, and its meta
maps them back."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import spacy
from spacy.util import filter_spans

from spacy_pel.abbreviations.definitions import find_abbreviations
from spacy_pel.registry import registry
from spacy_pel.training.offset_map import OffsetMap, Original
from spacy_pel.types import ORIGINAL, TITLE_LENGTH, Document
from spacy_pel.util.config import known_language

from .text_offsets import joined, new_span, record, replaced


def with_replacements(document: Document, replacements: Iterable[tuple[int, int, str]]) -> tuple[Document, int]:
    """Replace spans of a document.

    Args:
        document: it is not changed.
        replacements: start, end and new text of each, by start; one that begins inside an earlier one is left
            out.

    Returns:
        The new document, and how many spans were replaced.
    """
    pieces: list[str] = []
    changes: list[tuple[int, int, int]] = []
    done = 0
    for start, end, new in replacements:
        if start >= done:
            pieces += [document.text[done:start], new]
            changes.append((start, end, len(new)))
            done = end
    text = "".join([*pieces, document.text[done:]])
    return rewritten(document, text, replaced(len(document.text), changes)), len(changes)


def with_letters(document: Document, change: Callable[[str], str]) -> Document:
    """Replace each character of a document.

    Args:
        document: it is not changed.
        change: from a character to a text, such as ``str.lower``, which turns "İ" into two characters.

    Returns:
        The new document.
    """
    letters = [change(letter) for letter in document.text]
    changes = [(at, at + 1, len(new)) for at, new in enumerate(letters) if len(new) != 1]
    return rewritten(document, "".join(letters), replaced(len(document.text), changes))


def rewritten(document: Document, text: str, offsets: OffsetMap) -> Document:
    """Give a document another text.

    Args:
        document: it is not changed.
        text: the new one.
        offsets: from the document's text to the new one. A mention none of whose characters is left is dropped.

    Returns:
        The new one.
    """
    moved = []
    for mention in document.mentions:
        if span := new_span(offsets, mention.start, mention.end):
            moved.append(replace(mention, start=span[0], end=span[1]))
    source, meta = Original.of(document), dict(document.meta)
    if "discontinuous" in meta:
        meta["discontinuous"] = _parts(meta["discontinuous"], offsets)
    length = meta.get(TITLE_LENGTH)
    if type(length) is int and 0 < length <= len(document.text):
        title = new_span(offsets, 0, length)
        if title is not None and title[0] == 0:
            meta[TITLE_LENGTH] = title[1]
        else:
            del meta[TITLE_LENGTH]
    if ORIGINAL in meta or text != document.text:
        meta[ORIGINAL] = record(source._replace(offsets=joined(source.offsets, offsets)))
    return Document(document.id, text, moved, meta)


def _parts(listed: Sequence[dict[str, Any]], offsets: OffsetMap) -> list[dict[str, Any]]:
    """The parts of discontinuous mentions (see ``policy``), moved; those that lost
    one are left out."""
    moved = []
    for entry in listed:
        whole = new_span(offsets, entry["start"], entry["end"])
        spans = [new_span(offsets, start, end) for start, end in entry["spans"]]
        if whole is not None and None not in spans:
            moved.append({"start": whole[0], "end": whole[1], "spans": [list(span) for span in spans if span]})
    return moved


@registry.pel_preprocessors("spacy-pel.ExpandAbbreviations.v1")
class ExpandAbbreviations:
    """Replaces every occurrence of a short form that the document defines, also in the definition itself, by
    its long form. They are found as by Schwartz & Hearst (2003); the paper used Ab3P.

    A mention that covers a short form then covers its long form. A short form inside which a mention ends
    is not replaced, since its long form has no such parts; these are counted as "abbreviations_cut".

    Args:
        lang: the language whose tokenizer cuts the texts.
    """

    def __init__(self, *, lang: str = "en") -> None:
        with known_language(lang):
            self._nlp = spacy.blank(lang)
        self.report: dict[str, int] = dict.fromkeys(("abbreviations", "abbreviations_expanded", "abbreviations_cut"), 0)

    def __call__(self, document: Document) -> list[Document]:
        ends = {place for mention in document.mentions for place in (mention.start, mention.end)}
        long_forms = []
        done = 0
        for start, end, long_form in self._long_forms(document):
            if start < done:  # inside a longer one
                continue
            if ends.isdisjoint(range(start + 1, end)):
                long_forms.append((start, end, long_form))
                done = end
            else:
                self.report["abbreviations_cut"] += 1
        new, n_expanded = with_replacements(document, long_forms)
        self.report["abbreviations_expanded"] += n_expanded
        return [new]

    def _long_forms(self, document: Document) -> list[tuple[int, int, str]]:
        """Character offsets of short forms and the long form of each, by start, the longest first."""
        doc = self._nlp.make_doc(document.text)
        long_forms = set()
        for abbreviation in find_abbreviations(doc):
            short = doc[abbreviation["short_start"] : abbreviation["short_end"]]
            long_forms.add((short.start_char, short.end_char, abbreviation["long_text"]))
        self.report["abbreviations"] += len({(document.text[start:end], long) for start, end, long in long_forms})
        return sorted(long_forms, key=lambda item: (item[0], -item[1], item[2]))


@registry.pel_preprocessors("spacy-pel.LowerCase.v1")
class LowerCase:
    """Lower-cases letter by letter. A letter that becomes two, such as "İ", keeps its position; the Greek
    sigma is the same at the end of a word as inside (``str.lower`` distinguishes them)."""

    def __init__(self) -> None:
        self.report: dict[str, int] = {"texts_lowered": 0}

    def __call__(self, document: Document) -> list[Document]:
        lowered = with_letters(document, str.lower)
        self.report["texts_lowered"] += lowered.text != document.text
        return [lowered]


@registry.pel_preprocessors("spacy-pel.LongestMentions.v1")
class LongestMentions:
    """Leaves out mentions that overlap a longer one, or an equally long one that begins earlier; of several
    with the same span the first is kept. ``doc.ents`` is filled by the same rule."""

    def __init__(self) -> None:
        self.report: dict[str, int] = {"overlapping_dropped": 0}

    def __call__(self, document: Document) -> list[Document]:
        mentions: Any = document.mentions  # have a start and an end, as spans do
        longest: Any = filter_spans(mentions)
        self.report["overlapping_dropped"] += len(document.mentions) - len(longest)
        return [replace(document, mentions=longest, meta=dict(document.meta))]
