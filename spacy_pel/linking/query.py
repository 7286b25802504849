"""What a linker is asked, a mention in its text, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..abbreviations.documents import LongForms, spelled_out, whole_names
from ..abbreviations.short_forms import Sense, senses_of, spelled_within
from ..kb import KnowledgeBase
from ..types import NIL, Candidate, MentionInText, Vectors
from ..util.reading import read_apart

# More than a template reads on one side of a mention.
_CHARACTERS_PER_SIDE = 2048
_CANDIDATE: Any = partial(tuple.__new__, Candidate)  # from a pair, without a Python call for each


@dataclass(frozen=True, slots=True)
class MentionQuery:
    """A mention to be linked.

    Attributes:
        text: the text. A document of any length: templates read only what is near the mention.
        start, end: the mention's character offsets in ``text``, end exclusive.
        label: the NER label, "" if there is none; chooses the type filter and the threshold,
            and after calibration it says which types to expect.
        document: the text of the document that the mention is in; None = ``text``.
        types: (21,), P(type) for the types of ST21PV in their order, as a detector read it in the mention's context;
            None = not known.
        sense: what a list of short forms says that the mention stands for; None = no list does.
        surface: the mention's own text.
        form: its surface form: the same with single blanks, also across lines.
        context: the text of the document; "" if that is the mention itself.
    """

    text: str
    start: int
    end: int
    label: str = ""
    document: str | None = None
    types: Vectors | None = field(default=None, compare=False)
    sense: Sense | None = None
    surface: str = field(init=False, compare=False, repr=False)
    form: str = field(init=False, compare=False, repr=False)
    context: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        surface = self.text[self.start : self.end]
        document = self.text if self.document is None else self.document
        object.__setattr__(self, "surface", surface)
        object.__setattr__(self, "form", " ".join(surface.split()))
        object.__setattr__(self, "context", "" if surface == self.text else document)

    @property
    def in_text(self) -> MentionInText:
        """What the encoder reads."""
        return MentionInText(self.text, self.start, self.end)


Queries = Sequence[MentionQuery]


def make_queries(
    text: str,
    mentions: Sequence[tuple[int, int, str]],
    *,
    types: Sequence[Vectors | None],
    forms: LongForms,
    listed: Mapping[tuple[int, int], Sense],
    kb: KnowledgeBase,
) -> list[MentionQuery]:
    """Queries for the mentions of a text, with the text as it is read, see ``read_apart``, and abbreviations spelled
    out, see ``replace_mention``.

    Args:
        text: of a document.
        mentions: start, end and label of each.
        types: of each, as a detector read it.
        forms: what the document defines, see ``long_forms``.
        listed: what lists of short forms say, see ``listed_in``. Their senses come first.
        kb: tells which words are names together.
    """
    reading = read_apart(text, kb.ids)
    queries: list[MentionQuery] = []
    places = reading.read([(start, end) for start, end, _ in mentions])
    for (start, end, label), of_mention, (first, last) in zip(mentions, types, places, strict=True):
        place = (reading.text, first, last) if first < last else (text, start, end)  # nothing of it is read
        queries.append(MentionQuery(*place, label, types=of_mention))
    surfaces = [(query.surface, start) for query, (start, _, _) in zip(queries, mentions, strict=True)]
    names = whole_names(text, mentions, kb)
    if listed:
        within = spelled_within(text, mentions, listed, forms, kb)
        names = [name or other for name, other in zip(names, within, strict=True)]
    for number, long_form in enumerate(spelled_out(surfaces, forms, names)):
        if long_form is not None:
            queries[number] = replace_mention(queries[number], long_form)
    for number, sense in enumerate(senses_of(text, mentions, listed, forms, kb) if listed else ()):
        if sense is not None:
            is_text = not sense.kb_id and sense.meaning != NIL
            read = replace_mention(queries[number], sense.meaning) if is_text else queries[number]
            queries[number] = replace(read, sense=sense)
    return queries


def replace_mention(query: MentionQuery, surface: str) -> MentionQuery:
    """Replace the mention by another surface form in the same context.

    Args:
        query: the mention.
        surface: replaces the mention, e.g. an abbreviation by its long form.

    Returns:
        With a copy of the text around the mention, cut at blanks: a long document
        is not copied whole.
    """
    text, start, end = query.text, query.start, query.end
    left = max(0, start - _CHARACTERS_PER_SIDE)
    if left:
        left = max(left, text.find(" ", left, start))
    right = min(len(text), end + _CHARACTERS_PER_SIDE)
    if right < len(text):
        blank = text.rfind(" ", end, right)
        right = blank if blank != -1 else right
    window = text[left:start] + surface + text[end:right]
    document = text if query.document is None else query.document
    return replace(query, text=window, start=start - left, end=start - left + len(surface), document=document)


@dataclass(frozen=True)
class Link:
    """The linker's answer for one mention.

    Attributes:
        kb_id: an entity id, or "NIL".
        nil_score: the number compared with the NIL threshold.
        ids: ids of the candidates, best first, distinct, at most top_k.
        scores: their scores.
        probability: P(right) of ``kb_id``; calibrated if the linker is, see ``Confidence``, and bounded for
            undefined abbreviations, see ``trust_in_short_forms``.
        id_set: the answers, ids or "NIL", most probable first, among which the right one is
            at the rate ``coverage``. None without that setting, or before calibration.
        learned: the entry of the memory that decided, see ``Linker.learn``; None = none did.
        threshold: a higher nil_score is NIL, unless ``learned`` decides; None = NIL only for
            lack of candidates.
        label: the mention's type by its detector and its candidates together, as a label of ST21PV; None = the
            detector gave no types.
        relation: of the mention to ``kb_id``: "exact", or "broader" where words around the name were left out; None for
            NIL.
    """

    kb_id: str
    nil_score: float
    ids: list[str]
    scores: list[float]
    probability: float
    id_set: list[str] | None = None
    learned: int | None = None
    threshold: float | None = None
    label: str | None = None
    relation: str | None = None

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates as pairs, made when asked for: dozens of objects for each
        mention would keep Python's garbage collector busy."""
        return list(map(_CANDIDATE, zip(self.ids, self.scores, strict=True)))
