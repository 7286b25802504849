"""Replacing abbreviations by their long forms in the document (Le & Nguyen 2023)."""

import spacy

from ...abbreviations.definitions import find_abbreviations
from ...registry import registry
from ...types import Document
from ...util.config import known_language
from .rewrite import with_replacements


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
