"""Lists of short forms that decide what a text does not define: a house's own, and that of clinical notes."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Warnings, quoted
from ..types import NIL
from ..util import PLAIN_WORDS, logger
from ..util.files import Place, read_lines, unexpected
from ..util.parsing import read_cells
from .definitions import other_number

CLINICAL = "clinical"
LISTED = "pel_short_forms"  # of a Doc: what lists say of it, records of ``Sense`` and where they count
# P(right): of a form with one sense, of several where the text beside it tells, and of the usual one of several. In 25
# notes the first were right in 166 of 173, the second in 9 of 9; the usual sense has 74% of the uses in sign-out notes
_ONE_SENSE, _TOLD, _USUAL = 0.95, 0.9, 0.7
_ALWAYS, _ANYWHERE = "always", "*"
_MARKS = frozenset((_ALWAYS, NIL.lower(), ""))
_HEADER = [re.compile(words, re.I) for words in ("short|abbr|acronym|form", r"long|.*\bid\b|sense|meaning|expan")]
_EXPECTED = "a short form and a long form or id between tabs, perhaps with a section and 'always' or 'nil'"
_WORD = re.compile(r"[^\W_]+")
_ID = re.compile(r"[A-Z]{1,8}:?[A-Z]?\d{4,}|\d{5,}")  # "C0004096", "HP:0001250", "38341003"
_BESIDE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%+/]")
_END = re.compile(r"[.;!?]\s+(?=[A-Z]|$)|\n")  # of a sentence
_REACH, _N_BESIDE = 60, 6  # characters and words on either side of a form that tell its sense
_SHORTEST = 3  # characters of a form that may be written in other case than in its list
# "PMH: ..." where a line or a sentence begins, or a line in capitals
_HEADING = re.compile(
    r"(?:^|(?<=[.;])(?=[ \t]))[ \t\d.)*-]{0,40}(?:([A-Z][A-Za-z/&() -]{1,40}):|([A-Z][A-Z/&() -]{2,40})$)", re.MULTILINE
)
_SECTIONS = {
    "pmh": "pmh pmhx problem problems history diagnosis diagnoses dx hx assessment",
    "meds": "medication medications meds drug drugs rx allergies",
    "labs": "lab labs laboratory laboratories results data chemistry",
    "exam": "exam examination physical pe vitals vs objective",
    "imaging": "imaging radiology studies findings impression echo tte echocardiogram cxr ct mri ekg ecg",
    "procedures": "procedure procedures operation operations psh surgical preop postop operative",
    "ob": "obstetric obstetrical ob gyn gynecologic prenatal pregnancy delivery",
}
_SECTION_OF = {word: section for section, words in _SECTIONS.items() for word in words.split()}


class Row(NamedTuple):
    """A line of a list.

    Attributes:
        short_form: as written.
        meaning: a long form, or the id of an entity.
        where: words of the section's heading or beside the form, one of which has to be there; "*" = or none.
        mark: "always" = also where the document defines the form; "nil" = no entity, unless the knowledge base has
            the long form as a name.
    """

    short_form: str
    meaning: str
    where: tuple[str, ...] = ()
    mark: str = ""

    def __str__(self) -> str:
        cells = (self.short_form, self.meaning, ", ".join(self.where), self.mark)
        quoted_cells = ('"{}"'.format(cell.replace('"', '""')) if '"' in cell else cell for cell in cells)
        return "\t".join(quoted_cells).rstrip("\t")


class Sense(NamedTuple):
    """What a list says that a short form stands for.

    Attributes:
        meaning: a long form, or an id.
        probability: how sure that is.
        source: the name of the list.
        mark: as in the row.
        kb_id: the meaning, where that is an id of the knowledge base.
        form: the short form, where a list decides of a mention.
    """

    meaning: str
    probability: float
    source: str
    mark: str
    kb_id: str = ""
    form: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether it is the only sense, or words beside the form tell it."""
        return self.probability >= _TOLD

    def counts(self, form: str, defined: Container[str]) -> bool:
        """Whether it counts for a form where the document defines others, or this one."""
        return self.mark == _ALWAYS or form not in defined

    @property
    def is_nil(self) -> bool:
        """Whether it is no entity, unless the knowledge base has the long form as a name."""
        return NIL.lower() in (self.mark, self.meaning.lower())


Listed = tuple[int, int, bool, Sense]  # first character, end, whether it is written as in the list, and the sense


class ShortForms:
    """A list of short forms.

    Args:
        name: of the list.
        rows: of a form with several senses the usual one first.
    """

    def __init__(self, name: str, rows: Iterable[Row]):
        self.name = name
        self.rows = list(rows)
        self.senses: dict[str, list[Row]] = {}
        for row in self.rows:
            for form in row.short_form.split("|"):
                self.senses.setdefault(form, []).append(row)
        self.folded = {form.casefold(): form for form in reversed(self.senses)}
        for form, rows_of_form in list(self.senses.items()):
            self.senses.setdefault(other_number(form), rows_of_form)
        self.starting: dict[str, list[str]] = {}  # forms in lower case by their first word
        for form in {form.casefold() for form in self.senses}:
            if first := _WORD.match(form):
                self.starting.setdefault(first[0], []).append(form)

    @classmethod
    def read(cls, path: Path, name: str = "") -> "ShortForms":
        """Read a table with tabs, with or without a header; lines that begin with # are comments.

        Raises:
            PelError: if there is no such file, or a line is no entry; names the line.
        """
        rows: list[Row] = []
        is_first = True
        lines = ((number, line) for number, line in read_lines(path) if not line.startswith("#"))
        for number, row in read_cells(path, lines):  # Excel puts quotation marks around cells with commas
            if not any(cells := [" ".join(cell.split()) for cell in row]):
                continue
            may_be_header, is_first = is_first and len(cells) > 1, False
            if may_be_header and all(pattern.match(cell) for pattern, cell in zip(_HEADER, cells, strict=False)):
                continue
            short, meaning, where, mark, *more = *cells, *[""] * 3
            if not short or not meaning or any(more) or mark.lower() not in _MARKS or not _WORD.match(short):
                raise unexpected(Place(path, number), _EXPECTED, quoted("\t".join(row)))
            cues = tuple(filter(None, map(str.strip, where.casefold().split(","))))
            rows.append(Row(short, meaning, cues, mark.lower()))
        if not rows:
            raise unexpected(path, _EXPECTED, "none")
        return cls(name or path.name, rows)

    def __str__(self) -> str:
        return "".join(f"{row}\n" for row in self.rows)

    def rows_of(self, surface: str) -> tuple[str, list[Row]]:
        """The form that a text stands for, and its rows: as it is written, or all in lower case or capitals where
        that is no other word."""
        if surface in self.senses:
            return surface, self.senses[surface]
        is_free = len(surface) >= _SHORTEST and (surface.islower() or surface.isupper())
        if not is_free or (lowered := surface.lower()) in PLAIN_WORDS:
            return "", []
        form = self.folded.get(lowered, "")
        return form, self.senses.get(form, [])

    def sense(self, rows: Sequence[Row], beside: str) -> Sense | None:
        """The sense of most cues, the first of equal ones; None = none that the text allows. A word counts more than a
        section, and what stands at the form more than a word somewhere near."""
        found = [sum(_weight(cue, beside) for cue in row.where) for row in rows]
        allowed = [n for n, row in enumerate(rows) if found[n] or not row.where or _ANYWHERE in row.where]
        if not allowed:
            return None
        best = max(allowed, key=found.__getitem__)
        meaning, others = rows[best].meaning, {row.meaning for row in rows}
        probability = _TOLD if found[best] else _USUAL
        return Sense(meaning, probability if len(others) > 1 else _ONE_SENSE, self.name, rows[best].mark)


def _weight(cue: str, beside: str) -> int:
    if f" {cue} " in beside:
        return 1 + (cue[-1] != ":") + 2 * ("_" in cue)
    return int(f" {cue.replace(' ', ': ')}: " in beside)


@cache
def clinical() -> ShortForms:
    """The short forms of clinical notes."""
    return ShortForms.read(Path(__file__).with_name("clinical.tsv"), CLINICAL)


def find_listed(text: str, lists: Sequence[ShortForms], labels: Mapping[tuple[int, int], str]) -> Iterator[Listed]:
    """Where short forms of lists stand in a text, and what they stand for there.

    Args:
        text: of a document.
        lists: the first that has a sense for a form decides.
        labels: of mentions that were found, by first character and end.

    Yields:
        First character and end, whether it is written as in the list, and the sense.
    """
    headings = list(_headings(text))
    done = 0
    for word in _WORD.finditer(text):
        start = word.start()
        if start < done:
            continue
        forms = (form for one in lists for form in one.starting.get(word[0].casefold(), ()))
        for end in sorted({start + len(form) for form in forms}, reverse=True):
            surface = text[start:end]
            if end < len(text) and text[end].isalnum():
                continue
            beside = ""
            for one in lists:
                form, rows = one.rows_of(surface)
                if any(row.where for row in rows):
                    beside = beside or _beside(text, start, end, headings, labels.get((start, end), ""))
                if rows and (sense := one.sense(rows, beside)) is not None:
                    yield start, end, surface == form, sense
                    done = end
                    break
            if done == end:
                break


def _headings(text: str) -> Iterator[tuple[int, str]]:
    """Where sections begin, and the words of their headings and the kind of the section, each with a colon."""
    section = ""
    for found in _HEADING.finditer(text):
        words = [word[0].casefold() for word in _WORD.finditer(found[1] or found[2])]
        section = next((f"{_SECTION_OF[word]}:" for word in words if word in _SECTION_OF), section)
        yield found.start(), " ".join([*(f"{word}:" for word in words), section])


def _beside(text: str, start: int, end: int, headings: Sequence[tuple[int, str]], label: str) -> str:
    """What cues are looked for in: words of the sentence, "_" for the form, "#" for numbers, ":_" for a colon after the
    form, the heading and the label."""
    before = _END.split(text[max(0, start - _REACH) : start])[-1]
    after = _END.split(text[end : end + _REACH])[0]
    left, right = (["#" if word[0].isdigit() else word for word in _BESIDE.findall(side)] for side in (before, after))
    number = bisect_right(headings, start, key=itemgetter(0)) - 1
    heading = headings[number][1] if number >= 0 else ""
    colon = ":_" if after.startswith(":") else ""
    words = [*left[-_N_BESIDE:], "_", *right[:_N_BESIDE], "|", colon, heading, label]
    return f" {' '.join(words).casefold()} "


def senses_of(
    text: str,
    mentions: Iterable[tuple[int, int, str]],
    listed: Mapping[tuple[int, int], Sense],
    defined: Container[str],
    kb: Any,
) -> list[Sense | None]:
    """What lists decide of mentions.

    Args:
        text: of the document.
        mentions: start, end and label of each.
        listed: from ``documents.listed_in``.
        defined: the short forms that the document defines; only what a list always says counts for these.
        kb: the knowledge base; what has an id that it lacks is not decided.

    Returns:
        Of each mention; None = no list decides.
    """
    senses: list[Sense | None] = []
    for start, end, _ in mentions:
        sense, form = listed.get((start, end)), text[start:end]
        if sense is None or not sense.counts(form, defined):
            sense = None
        elif sense.meaning in kb or not _ID.fullmatch(sense.meaning) or kb.ids(sense.meaning):
            sense = sense._replace(kb_id=sense.meaning if sense.meaning in kb else "", form=form)
        else:
            warned = kb.memo.setdefault("unknown_of_lists", set())
            if sense.meaning not in warned:
                logger.warning(Warnings.W513.format(id=sense.meaning, form=form, list=sense.source))
                warned.add(sense.meaning)
            sense = None
        senses.append(sense)
    return senses


def spelled_within(
    text: str,
    mentions: Iterable[tuple[int, int, str]],
    listed: Mapping[tuple[int, int], Sense],
    defined: Container[str],
    kb: Any,
) -> list[str | None]:
    """Mentions that name nothing, with the long form of each short form in them that a list is sure of: "hemodialysis
    x3" for "HD x3". The arguments are those of ``senses_of``; None = there is none in a mention, or it is one."""
    places = sorted(listed)
    spelled: list[str | None] = []
    for start, end, _ in mentions:
        parts, done = [], start
        if places and (start, end) not in listed and not kb.ids(text[start:end]):
            for first, last in places[bisect_left(places, (start, start)) :]:
                if first >= end:
                    break
                sense = listed[first, last]
                beside = text[start:first][-1:] + text[last:end][:1]  # not in "CF-1"
                counts = sense.is_sure and not sense.is_nil and sense.counts(text[first:last], defined)
                if last <= end and not beside.strip() and counts and kb.ids(sense.meaning):
                    parts += [text[done:first], sense.meaning]
                    done = last
        spelled.append("".join([*parts, text[done:end]]) if parts else None)
    return spelled
