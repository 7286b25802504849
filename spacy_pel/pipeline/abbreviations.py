"""A component that finds abbreviations and their long forms."""

from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, Span
from thinc.api import Config

from ..abbreviations.definitions import find_abbreviations
from ..abbreviations.short_forms import CLINICAL, LISTED, Listed, ShortForms, clinical, find_listed
from ..errors import Errors, PelError
from ..types.semantic_types import ST21PV
from ..util.files import PathLike
from ..util.reading import Reading, as_read
from ..util.saved_folder import MANIFEST, check_folder, load_from_bytes, read_whole, save_to_bytes, write_folder
from ..util.writing import write_text
from .detectors.boundaries import split_tokens
from .mentions import PHRASE, add_phrase, as_list, declare, span_types

Abbreviation = dict[str, Any]  # as in doc._.pel_abbreviations
Tokens = tuple[int, int]  # first token, and end
_BETWEEN = 6  # tokens between a long form and its short form at most, "(hereinafter referred to as"
_FORMS = ("short", "long")
_OPENING = frozenset(("(", "[", ",", "or"))
_CLOSING = frozenset(")]\"'\u2019\u201d")
_SAVED = "saved:"  # before the name of a list that is in the component's folder
_KIND, _VERSION = "short forms", 1
_LABEL = "ENTITY"  # of a short form whose type no detector tells
_LABELS = list(ST21PV.values())
Setting = None | str | Path | Sequence[str | Path]


@Language.factory(
    "pel_abbreviation_detector",
    assigns=["doc._.pel_abbreviations", "doc._.abbreviations", "span._.long_form"],
    default_config={"mentions": False, "abbreviations": None},
)
def make_abbreviation_detector(nlp: Language, name: str, mentions: bool, abbreviations: Setting) -> Any:
    """Build a component that finds abbreviations and their long forms.

    Args:
        nlp: the pipeline.
        name: the component's name.
        mentions: also turn the short forms of mentions into mentions.
        abbreviations: lists of short forms that decide, see AbbreviationDetector.

    Returns:
        The component.
    """
    return AbbreviationDetector(nlp, name, mentions=mentions, abbreviations=abbreviations)


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

    What the document does not define, lists of short forms may decide: a house's own, and that of clinical notes. What
    they say of a document is in ``doc._.pel_short_forms``, for the linker. With ``mentions``, short forms that they are
    sure of become mentions, too.

    Args:
        nlp: the pipeline.
        name: the component's name.
        mentions: whether to change ``doc.ents``.
        abbreviations: "clinical", the path of a table (short form, long form or id, perhaps a section, perhaps
            "always"), or a list of these, of which the first that has a form decides; None = no list. A table is saved
            with the component, and is "saved:NAME" in its config.

    Raises:
        PelError: if a table cannot be read.
    """

    def __init__(
        self,
        nlp: Language,
        name: str = "pel_abbreviation_detector",
        *,
        mentions: bool = False,
        abbreviations: Setting = None,
    ) -> None:
        self.nlp = nlp
        self.name = name
        self.mentions = mentions
        self._use(abbreviations)
        _add_extensions()

    def _use(self, setting: Setting, saved: Sequence[ShortForms] = ()) -> None:
        """Read the lists that a setting names; those that were saved are among the given ones, or come later."""
        given = setting if isinstance(setting, list | tuple) else [] if setting is None else [setting]
        names = list(map(str, given))
        known = {_SAVED + one.name: one for one in saved}
        lists: list[ShortForms] = []
        for name in names:
            if name == CLINICAL:
                lists.append(clinical())
            elif name in known:
                lists.append(known[name])
            elif not name.startswith(_SAVED):
                path = Path(name)
                taken = [CLINICAL, MANIFEST, *(one.name for one in lists)]
                own = next(own for n in range(len(names) + 2) if (own := f"{n or ''}{path.name}") not in taken)
                lists.append(ShortForms.read(path, own))
        self.names, self.lists = names, lists  # only now: a table that cannot be read changes nothing
        self.missing = [name for name in names if name.startswith(_SAVED) and name not in known]  # not read yet

    @property
    def abbreviations(self) -> Setting:
        """The setting, without paths."""
        names = self.names if self.missing else [_SAVED * (one.name != CLINICAL) + one.name for one in self.lists]
        return names if len(names) > 1 else next(iter(names), None)

    @abbreviations.setter
    def abbreviations(self, setting: Setting) -> None:
        self._use(setting)

    def __call__(self, doc: Doc) -> Doc:
        """Find abbreviations in a document.

        Raises:
            PelError: if a saved list was not loaded.
        """
        if self.missing:
            got = f"{', '.join(self.missing)}, which was not loaded"
            raise PelError(Errors.E011.format(expected=f"the lists of '{self.name}'", got=got))
        seen, reading = as_read(doc, self.nlp)
        found = find_abbreviations(seen)
        if seen is not doc:
            _set_given(doc, seen, reading, found)
        doc._.pel_abbreviations = found
        if self.mentions and found and doc.ents:
            doc.ents = _with_short_forms(doc, found)  # type: ignore[assignment]
        if self.lists:
            labels = {(ent.start_char, ent.end_char): ent.label_ for ent in doc.ents}
            listed = list(find_listed(doc.text, self.lists, labels))
            doc._.pel_short_forms = [[start, end, *sense] for start, end, _, sense in listed]
            if self.mentions:
                _add_listed(doc, listed, {one["short_text"] for one in found})
        return doc

    # -- disk, bytes ---------------------------------------------------------------------------

    @property
    def _saved(self) -> list[ShortForms]:
        return [one for one in self.lists if one.name != CLINICAL]

    def to_disk(self, path: PathLike, *, exclude: Iterable[str] = ()) -> None:
        """Write the tables, if there are any, and their names into the config of the pipeline."""
        path = Path(path)
        self._tell_config(self.nlp._pipe_configs)
        if self._saved:
            with write_folder(path, kind=_KIND, version=_VERSION) as part:
                for one in self._saved:
                    with write_text(part / one.name) as file:
                        file.write(str(one))
        config = path.parent / "config.cfg"
        if config.is_file():  # spaCy wrote it before
            saved = Config().from_disk(config, interpolate=False)
            if self._tell_config(saved["components"]):
                saved.to_disk(config)

    def from_disk(self, path: PathLike, *, exclude: Iterable[str] = ()) -> "AbbreviationDetector":
        """Read what ``to_disk`` wrote, if the config names it.

        Raises:
            PelError: if a table is missing or damaged.
        """
        path = Path(path)

        def read() -> None:
            check_folder(path, kind=_KIND, version=_VERSION)
            files = (path / Path(name.removeprefix(_SAVED)).name for name in self.missing)
            self._use(self.names, [*map(ShortForms.read, files)])

        if self.missing:
            read_whole(path, read)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """What ``to_disk`` would write."""
        return save_to_bytes(self.to_disk, kind=_KIND)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "AbbreviationDetector":
        """Read what ``to_bytes`` returned, if the config names it.

        Raises:
            PelError: if the bytes are not from ``to_bytes``.
        """
        return load_from_bytes(data, self.from_disk, kind=_KIND)

    def _tell_config(self, components: dict[str, Any]) -> bool:
        """Name the tables as they are saved, as their paths are of this machine; whether that changes anything."""
        own = components.get(self.name, {})
        before, own["abbreviations"] = own.get("abbreviations"), self.abbreviations
        return bool(before != self.abbreviations)

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
        _add_extensions()


def _add_listed(doc: Doc, listed: Iterable[Listed], defined: Container[str]) -> None:
    """Make short forms of an entity that lists are sure of mentions, in capitals or as their list writes them; and
    those that a detector took apart, "t2" and "dm". The label is the type that a detector read there; the linker's
    entity corrects it."""
    of_token = {token.i: ent for ent in doc.ents for token in ent}
    spans, parts = [], set()
    text = doc.text  # which spaCy joins each time it is read, in char_span, too
    first, last = ({token.idx + at * len(token): token.i + at for token in doc} for at in (0, 1))
    for start, end, as_listed, sense in listed:
        form = text[start:end]
        is_token = start in first and end in last
        if not is_token or sense.is_nil or not (sense.is_sure and sense.counts(form, defined)):
            continue
        span = doc[first[start] : last[end]]
        near = {of_token[token.i] for token in span if token.i in of_token}
        if all(len(ent) < len(span) and {ent.start, ent.end - 1} <= {*range(span.start, span.end)} for ent in near):
            if (near or as_listed or form.isupper()) and not any(ent.kb_id for ent in near):
                spans.append(span)
                parts.update(near)
    labels = [_LABEL if types is None else _LABELS[int(types.argmax())] for types in span_types(doc, spans)]
    new = [Span(doc, span.start, span.end, label=label) for span, label in zip(spans, labels, strict=True)]
    doc.ents = [*(ent for ent in doc.ents if ent not in parts), *new]  # type: ignore[assignment]


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
    declare(Doc, LISTED, as_list)
    declare(Doc, "abbreviations", _short_forms)
    declare(Span, "long_form", _long_form)
    add_phrase()
