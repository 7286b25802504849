"""A component that finds abbreviations and their long forms."""

from collections.abc import Iterator, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span

from ..abbreviations.definitions import find_abbreviations
from ..util.reading import Reading, as_read
from .detectors.boundaries import split_tokens
from .mentions import PHRASE, add_phrase, as_list, declare

Abbreviation = dict[str, Any]  # as in doc._.pel_abbreviations
Tokens = tuple[int, int]  # first token, and end
_BETWEEN = 6  # tokens between a long form and its short form at most, "(hereinafter referred to as"
_FORMS = ("short", "long")
_OPENING = frozenset(("(", "[", ",", "or"))
_CLOSING = frozenset(")]\"'\u2019\u201d")


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
    return AbbreviationDetector(nlp, name, mentions=mentions)


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
        nlp: the pipeline.
        name: the component's name.
        mentions: whether to change ``doc.ents``.
    """

    def __init__(self, nlp: Language, name: str = "pel_abbreviation_detector", *, mentions: bool = False) -> None:
        self.nlp = nlp
        self.name = name
        self.mentions = mentions
        _add_extensions()

    def __call__(self, doc: Doc) -> Doc:
        seen, reading = as_read(doc, self.nlp)
        found = find_abbreviations(seen)
        if seen is not doc:
            _set_given(doc, seen, reading, found)
        doc._.pel_abbreviations = found
        if self.mentions and found and doc.ents:
            doc.ents = _with_short_forms(doc, found)  # type: ignore[assignment]
        return doc

    def __setstate__(self, state: dict) -> None:
        self.__init__(**state)  # type: ignore[misc]


def _set_given(doc: Doc, seen: Doc, reading: Reading, found: Sequence[Abbreviation]) -> None:
    """Give abbreviations of a document as it is read the tokens of the document as given."""
    tokens = list({(one[f"{form}_start"], one[f"{form}_end"]) for one in found for form in _FORMS})
    spans = [seen[start:end] for start, end in tokens]
    places = dict(zip(tokens, reading.given((span.start_char, span.end_char) for span in spans), strict=True))
    split_tokens(doc, places.values())
    for one in found:
        for form in _FORMS:
            span: Any = doc.char_span(*places[one[f"{form}_start"], one[f"{form}_end"]])
            one[f"{form}_start"], one[f"{form}_end"] = span.start, span.end


def _with_short_forms(doc: Doc, abbreviations: Sequence[Abbreviation]) -> list[Span]:
    both = {end: pair for abbreviation in abbreviations for end, pair in _mentions_of_both(doc, abbreviation)}
    mentions: list[Span] = []
    for ent in doc.ents:
        first_end, second = both.get(ent.end, (0, (0, 0)))
        if ent.kb_id or ent.id or ent.start >= first_end:
            mentions.append(ent)
        else:
            mentions += [Span(doc, *tokens, label=ent.label) for tokens in ((ent.start, first_end), second)]
    long_forms = {ent.end: ent for ent in mentions}
    taken = {token.i for ent in mentions for token in ent}
    for abbreviation in abbreviations:
        short = range(abbreviation["short_start"], abbreviation["short_end"])
        long_form = long_forms.get(abbreviation["long_end"])
        if long_form is not None and taken.isdisjoint(short):
            mentions.append(Span(doc, short.start, short.stop, label=long_form.label))
            mentions[-1]._.set(PHRASE, long_form._.get(PHRASE))
            taken.update(short)
    return mentions


def _mentions_of_both(doc: Doc, abbreviation: Abbreviation) -> Iterator[tuple[int, tuple[int, Tokens]]]:
    """Where a mention of long form and short form, "malignant melanoma (MM)" or "malignant melanoma, or MM", may end;
    and the end of the first of them, and the second. None where the short form occurs elsewhere."""
    forms = [(abbreviation[f"{kind}_start"], abbreviation[f"{kind}_end"]) for kind in ("long", "short")]
    (_, first_end), (start, end) = sorted(forms)
    if first_end < start <= first_end + _BETWEEN and doc[first_end].text in _OPENING:
        last = end
        while last < len(doc) and doc[last].text in _CLOSING:
            last += 1
        for possible_end in range(end, last + 1):  # detectors may leave out the second bracket
            yield possible_end, (first_end, (start, end))


def _short_forms(doc: Doc, stored: Any) -> Any:
    """What another detector has set, or ours as spans."""
    if stored is not None:
        return stored
    return [doc[found["short_start"] : found["short_end"]] for found in doc._.pel_abbreviations]


def _long_form(span: Span, stored: Any) -> Any:
    for found in span.doc._.pel_abbreviations if stored is None else ():
        if (found["short_start"], found["short_end"]) == (span.start, span.end):
            return span.doc[found["long_start"] : found["long_end"]]
    return stored


def _add_extensions() -> None:
    declare(Doc, "pel_abbreviations", as_list)
    declare(Doc, "abbreviations", _short_forms)
    declare(Span, "long_form", _long_form)
    add_phrase()
