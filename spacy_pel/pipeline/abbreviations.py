"""A component that finds abbreviations and their long forms."""

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..corpora.abbreviations import find_abbreviations
from .mentions import PHRASE, add_phrase, as_list, declare

Abbreviation = dict[str, Any]  # as in doc._.pel_abbreviations
Tokens = tuple[int, int]  # first token, and end


@Language.factory(
    "pel_abbreviation_detector",
    assigns=["doc._.pel_abbreviations", "doc._.abbreviations", "span._.long_form"],
    default_config={"mentions": False},
)
def make_abbreviation_detector(nlp: Language, name: str, mentions: bool) -> "AbbreviationDetector":
    """Build a component that finds abbreviations and their long forms.

    Args:
        nlp: the pipeline.
        name: the component's name.
        mentions: also turn the short forms of mentions into mentions.

    Returns:
        The component.
    """
    return AbbreviationDetector(name, mentions=mentions)


class AbbreviationDetector:
    """Sets ``doc._.pel_abbreviations``, a list of dictionaries with ``short_text``, ``short_start``,
    ``short_end``, ``long_text``, ``long_start`` and ``long_end`` (token offsets), as scispaCy's detector
    writes with ``make_serializable=True``. Docs can be pickled, stored in a DocBin and sent between
    processes.

    ``doc._.abbreviations`` shows the same as spans with ``span._.long_form``, another span, as code for
    scispaCy expects. It is made when it is read, so it is not stored. Both names are scispaCy's where its
    detector is used in the same process.

    With ``mentions``, it changes ``doc.ents``, too: a mention "long form (SF)" becomes two, and where a
    mention ends with a long form, its short forms become mentions wherever they occur, with its label.
    Detectors that learned from other text miss many of them. Mentions that have an id stay as they are.

    Args:
        name: the component's name.
        mentions: whether to change ``doc.ents``.
    """

    def __init__(self, name: str = "pel_abbreviation_detector", *, mentions: bool = False) -> None:
        self.name = name
        self.mentions = mentions
        _add_extensions()

    def __call__(self, doc: Doc) -> Doc:
        doc._.pel_abbreviations = found = find_abbreviations(doc)
        if self.mentions and found:
            doc.ents = _with_short_forms(doc, found)  # type: ignore[assignment]
        return doc

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _with_short_forms(doc: Doc, abbreviations: Sequence[Abbreviation]) -> list[Span]:
    ends = {place: one for one in abbreviations for place in _ends_of_both(doc, one)}
    mentions: list[Span] = []
    for ent in doc.ents:
        parts = None if ent.kb_id or ent.id else _parts(ent, ends.get(ent.end))
        mentions += [ent] if parts is None else [Span(doc, *part, label=ent.label) for part in parts]
    long_forms = {ent.end: ent for ent in mentions}
    taken = {token.i for ent in mentions for token in ent}
    for one in abbreviations:
        short = range(one["short_start"], one["short_end"])
        long_form = long_forms.get(one["long_end"])
        if long_form is not None and taken.isdisjoint(short):
            mentions.append(Span(doc, short.start, short.stop, label=long_form.label))
            mentions[-1]._.set(PHRASE, long_form._.get(PHRASE))
            taken.update(short)
    return mentions


def _ends_of_both(doc: Doc, one: Abbreviation) -> list[int]:
    """Where a mention of both, one of them in brackets, may end; [] = the short form
    occurs elsewhere."""
    (_, first_end), (start, end) = _in_order(one)
    if start != first_end + 1 or doc[first_end].text != "(":
        return []
    return [end, end + 1]  # detectors may leave out the second bracket


def _parts(ent: Span, one: Abbreviation | None) -> list[Tokens] | None:
    """What is before the bracket and what is in it; None = not a
    mention of both."""
    if one is None:
        return None
    (_, first_end), second = _in_order(one)
    return [(ent.start, first_end), second] if ent.start < first_end else None


def _in_order(one: Abbreviation) -> tuple[Tokens, Tokens]:
    """The tokens of long form and short form, in the order of the text."""
    long, short = (one["long_start"], one["long_end"]), (one["short_start"], one["short_end"])
    return (long, short) if long < short else (short, long)


def _short_forms(doc: Doc, kept: Any) -> Any:
    """What another detector has set, or ours as spans."""
    found = doc._.pel_abbreviations
    return [doc[one["short_start"] : one["short_end"]] for one in found] if kept is None else kept


def _long_form(span: Span, kept: Any) -> Any:
    for one in span.doc._.pel_abbreviations if kept is None else ():
        if (one["short_start"], one["short_end"]) == (span.start, span.end):
            return span.doc[one["long_start"] : one["long_end"]]
    return kept


def _add_extensions() -> None:
    declare(Doc, "pel_abbreviations", as_list)
    declare(Doc, "abbreviations", _short_forms)
    declare(Span, "long_form", _long_form)
    add_phrase()
