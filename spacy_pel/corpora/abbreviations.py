"""Abbreviations that a text defines, and their long forms (Schwartz & Hearst 2003)."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from spacy.tokens import Doc

from .definitions import definition_candidates
from .long_forms import Tokens, find_initials, is_short_form, lower, match_long_form

_BEHIND = re.compile(r"^\(?([^()\s]{2,})\)[-/]")  # another short form, "IS)/" or "(IS)-"
Words = tuple[str, ...]


def find_abbreviations(doc: Doc) -> list[dict[str, Any]]:
    """Find the abbreviations that a document defines, and wherever else their short forms occur, in the singular
    or the plural. A short form that is defined again, by words with its initials, stands for each long form from
    its definition on.

    It follows Schwartz & Hearst, "A simple algorithm for identifying abbreviation definitions in
    biomedical text" (PSB 2003), and considers the same candidates as scispaCy's detector, also in square brackets
    and quotes: "long form (SF)" and "SF (a long form)". Furthermore few words in brackets after a short form, "RA
    (rheumatoid arthritis)"; and where there is no other definition, those that a remark follows,
    "diethylnitrosamine (DEN: 10 mg/kg)", those after words such as "hereafter" or "abbreviated as", and those
    of a list of abbreviations. Tokens without white space between them are one word, so that it finds
    "5-FU" and "NF-kB", and does not cut a long form at the wrong token. A long form begins where the initials
    match, is within a sentence, and does not contain its short form.

    Args:
        doc: only its tokens are read.

    Returns:
        By short form and place, each with "short_text", "short_start",
        "short_end", "long_text", "long_start" and "long_end" (token offsets).
    """
    words = [token.text for token in doc]
    definitions: dict[Words, dict[int, Tokens]] = {}  # short form -> where it is defined -> long form
    long_forms = set()
    read = set()  # brackets whose long form is known
    for short, candidate, rule, is_weak in definition_candidates(doc, words):
        key = tuple(words[slice(*short)])
        if candidate in read or (is_weak and key in definitions) or not is_short_form(doc, short):
            continue
        long_form = match_long_form(doc, short, candidate, rule)
        if long_form is None or (text := lower(_long_text(doc, long_form))) in long_forms:
            continue
        if key in definitions and find_initials(text, doc[slice(*short)].text) != 0:
            continue
        long_forms.add(text)
        read.add(candidate)
        definitions.setdefault(key, {})[short[0]] = long_form
    found = []
    for start, end, (long_start, long_end) in _occurrences(words, definitions):
        record = {"short_text": doc[start:end].text, "short_start": start, "short_end": end}
        long_text = _long_text(doc, (long_start, long_end))
        found.append({**record, "long_text": long_text, "long_start": long_start, "long_end": long_end})
    return found


def _long_text(doc: Doc, long_form: Tokens) -> str:
    """A long form, without another short form that is written together with it:
    "stroke (IS)/transient ischemic attack (TIA)"."""
    text = doc[slice(*long_form)].text
    before = _BEHIND.match(text)
    return text[before.end() :] if before and before[1].isalpha() else text


def _occurrences(words: list[str], definitions: dict[Words, dict[int, Tokens]]) -> Iterator[tuple[int, int, Tokens]]:
    """Where the tokens of each short form occur, or of its other number unless that is defined itself, and the long
    form that is defined there or last before; before the first definition, that one."""
    starts = defaultdict(list)
    for start, word in enumerate(words):
        starts[word].append(start)
    for defined, long_forms in definitions.items():
        other = (*defined[:-1], other_number(defined[-1]))
        for key in (defined,) if other in definitions else (defined, other):
            for start in starts.get(key[0], ()):
                end = start + len(key)
                if tuple(words[start:end]) == key:
                    place = max((place for place in long_forms if place <= start), default=min(long_forms))
                    yield start, end, long_forms[place]


def other_number(word: str) -> str:
    """The singular of "MMs", the plural of "MM"; the same of what may be a word."""
    stem = word.removesuffix("s")
    if not any(map(str.isupper, stem[1:])):
        return word
    return stem if stem != word else word + "s"
