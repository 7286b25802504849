"""What the short forms of a document stand for: as it defines them, or an earlier passage of its article."""

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable
from itertools import chain
from operator import itemgetter
from typing import Any

from spacy.tokens import Doc

from .definitions import find_abbreviations, other_number

LongForms = dict[str, list[tuple[int, str]]]  # short form -> first character of each place, what it stands for there
KNOWN = "pel_known_abbreviations"  # short and long texts, in ``doc.user_data`` where spaCy stores extensions
_AROUND_SHORT = " ()[]\"'\u2018\u2019\u201c\u201d"
_BEFORE_SHORT = re.compile(f"[{re.escape(_AROUND_SHORT)}]+")


class SharedDefinitions:
    """Tells the passages of an article which abbreviations the passages before them define. What a passage
    defines itself comes first.

    Call it with the passages in order, those of an article in a row, before they go through a pipeline::

        share = SharedDefinitions()
        nlp.pipe(share(nlp.make_doc(text), article_id) for text, article_id in passages)
    """

    def __init__(self) -> None:
        self._article: Hashable = None
        self._known: dict[str, str] = {}

    def __call__(self, doc: Doc, article: Hashable) -> Doc:
        """Add what is known so far to a passage.

        Args:
            doc: the passage; only its tokens are read.
            article: identifies the article. None = the passage is a document of its own.

        Returns:
            The same Doc.
        """
        if article is None or article != self._article:
            self._article, self._known = article, {}
        if self._known:
            known = [{"short_text": short, "long_text": long_text} for short, long_text in self._known.items()]
            user_data: Any = doc.user_data
            user_data["._.", KNOWN, None, None] = known
        for found in find_abbreviations(doc) if article is not None else ():
            short, long_text = found["short_text"], found["long_text"]
            self._known[short] = long_text
            self._known.setdefault(other_number(short), long_text)
        return doc


def long_forms(doc: Doc) -> LongForms:
    """The abbreviations that a document defines, as our detector leaves them in ``doc._.pel_abbreviations``
    and scispaCy's in ``doc._.abbreviations``, as spans or in its serializable form; and those that passages
    before it define, see ``SharedDefinitions``.

    Returns:
        By short form, and by place.
    """
    forms: dict[str, dict[int, str]] = {}
    user_data: Any = doc.user_data
    # as stored: read as an attribute, ours would be made into spans
    names = ("pel_abbreviations", "abbreviations", KNOWN)
    stored = (user_data.get(("._.", name, None, None)) or () for name in names)
    for definition in chain.from_iterable(stored):
        if isinstance(definition, dict):
            short, long_form = definition["short_text"], definition["long_text"]
            token = definition.get("short_start", 0)  # another detector may not say where
            start = doc[token].idx if token < len(doc) else len(doc.text)
        else:
            short, start = definition.text, definition.start_char
            long_form = getattr(definition._.long_form, "text", definition._.long_form)
        forms.setdefault(short, {}).setdefault(start, long_form)
    return {short: sorted(places.items()) for short, places in forms.items()}


def long_form_at(forms: LongForms, short: str, start: int) -> str | None:
    """What a short form stands for at a character of the text: what it does where it
    occurs there or last before, or else first; None = it is no short form."""
    places = forms.get(short)
    return places[max(0, bisect_right(places, start, key=itemgetter(0)) - 1)][1] if places else None


def spelled_out(mentions: Iterable[tuple[str, int]], forms: LongForms) -> list[str | None]:
    """The long forms of mentions that are an abbreviation, or a long form followed by its abbreviation.

    Args:
        mentions: the text of each, e.g. "PCOS" or "polycystic ovary syndrome (PCOS)", and its first character.
        forms: from ``long_forms``.

    Returns:
        The long form of each; None if the mention is neither of these.
    """
    return [
        long_form_at(forms, text, start) if text in forms else _without_short_form(text, start, forms)
        for text, start in mentions
    ]


def _without_short_form(mention: str, start: int, forms: LongForms) -> str | None:
    """The long form of a mention of both; None if it is something else."""
    for before in _BEFORE_SHORT.finditer(mention):
        short = mention[before.end() :].rstrip(_AROUND_SHORT)
        long_form = long_form_at(forms, short, start + before.end())
        if long_form is not None and mention.startswith(long_form):
            if mention[len(long_form) :].strip(_AROUND_SHORT) == short:
                return long_form
    return None
