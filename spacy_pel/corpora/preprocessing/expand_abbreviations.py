"""Replacing abbreviations by their long forms in the document (Le & Nguyen 2023)."""

from typing import Any

from ...registry import registry
from ...types import Document
from ..abbreviations import find_abbreviations
from .offset_map import OffsetMap
from .rewrite import rewritten


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
        self.lang = lang
        self.report: dict[str, int] = dict.fromkeys(("abbreviations", "abbreviations_expanded", "abbreviations_cut"), 0)
        self._nlp: Any = None

    def __call__(self, document: Document) -> list[Document]:
        pieces: list[str] = []
        changes: list[tuple[int, int, int]] = []
        done = 0
        for start, end, long_form in self._found(document):
            if start < done:  # inside a longer one
                continue
            ends = [place for mention in document.mentions for place in (mention.start, mention.end)]
            if any(start < place < end for place in ends):
                self.report["abbreviations_cut"] += 1
                continue
            pieces += [document.text[done:start], long_form]
            changes.append((start, end, len(long_form)))
            done = end
        self.report["abbreviations_expanded"] += len(changes)
        text = "".join([*pieces, document.text[done:]])
        return [rewritten(document, text, OffsetMap.replaced(len(document.text), changes))]

    def _found(self, document: Document) -> list[tuple[int, int, str]]:
        """Character offsets of short forms and the long form of each,
        by start, the longest first."""
        if self._nlp is None:
            import spacy

            self._nlp = spacy.blank(self.lang)
        doc = self._nlp.make_doc(document.text)
        found = set()
        for one in find_abbreviations(doc):
            short = doc[one["short_start"] : one["short_end"]]
            found.add((short.start_char, short.end_char, one["long_text"]))
        self.report["abbreviations"] += len({(document.text[start:end], long) for start, end, long in found})
        return sorted(found, key=lambda each: (each[0], -each[1], each[2]))
