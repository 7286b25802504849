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
        vector: (width,), as the linker's encoder would give it; None = to be encoded.
    """

    text: str
    start: int
    end: int
    label: str = ""
    document: str | None = None
    vector: Vectors | None = field(default=None, compare=False)

    @property
    def surface(self) -> str:
        """The mention's own text."""
        return self.text[self.start : self.end]

    @property
    def form(self) -> str:
        """Its surface form: the same with single blanks, also across lines."""
        return " ".join(self.surface.split())

    @property
    def in_text(self) -> MentionInText:
        """What the encoder reads; with its vector, if that is known."""
        if self.vector is not None:
            return EncodedMention(self.text, self.start, self.end, self.vector)
        return MentionInText(self.text, self.start, self.end)

    @property
    def context(self) -> str:
        """The text of the document; "" if that is the mention itself."""
        if self.start == 0 and self.end == len(self.text):
            return ""
        return self.text if self.document is None else self.document


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
    return MentionQuery(window, start - left, start - left + len(surface), query.label, document)
