"""The linker's input: a mention, the text around it and its label."""

from dataclasses import dataclass, field

from ..types import EncodedMention, MentionInText, Vectors

# More than a template reads on one side of a mention.
_CHARACTERS_PER_SIDE = 2048


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
        vector: (width,), as the linker's encoder would give it; None = to be encoded.
        surface: the mention's own text.
        form: its surface form: the same with single blanks, also across lines.
        context: the text of the document; "" if that is the mention itself.
    """

    text: str
    start: int
    end: int
    label: str = ""
    document: str | None = None
    vector: Vectors | None = field(default=None, compare=False)
    types: Vectors | None = field(default=None, compare=False)
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
        """What the encoder reads; with its vector, if that is known."""
        if self.vector is not None:
            return EncodedMention(self.text, self.start, self.end, self.vector)
        return MentionInText(self.text, self.start, self.end)


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
    return MentionQuery(window, start - left, start - left + len(surface), query.label, document, types=query.types)
