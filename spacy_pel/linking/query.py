"""What is asked of the linker: a mention, the text around it and its label."""

from typing import NamedTuple, Optional

from ..types import MentionInText
from ..util import normalize_alias

# More than any mention template reads on one side; a long document is not carried along.
_CHARACTERS_PER_SIDE = 2048


class MentionQuery(NamedTuple):
    """A mention to be linked.

    text (str): the text, or the part of it around the mention.
    start, end (int): the mention's character offsets in ``text``, end exclusive.
    label (str): the NER label, "" if there is none; chooses the type filter.
    """

    text: str
    start: int
    end: int
    label: str = ""

    @property
    def surface(self) -> str:
        """RETURNS (str): the mention's own text."""
        return self.text[self.start : self.end]

    @property
    def in_text(self) -> MentionInText:
        """RETURNS (MentionInText): what the encoder reads."""
        return MentionInText(self.text, self.start, self.end)

    @property
    def is_blank(self) -> bool:
        """RETURNS (bool): the mention holds white space only, there is nothing to link."""
        return not normalize_alias(self.surface)


def cut_window(
    text: str, start: int, end: int, *, label: str = "", surface: Optional[str] = None
) -> MentionQuery:
    """Make a query of a mention in a document of any length.

    text (str): the document's text.
    start, end (int): the mention's character offsets.
    label (str): the mention's label.
    surface (Optional[str]): put this in the mention's place, e.g. an abbreviation's long form.
    RETURNS (MentionQuery): with the text around the mention, cut at blanks.
    """
    left = max(0, start - _CHARACTERS_PER_SIDE)
    if left:
        left = max(left, text.find(" ", left, start))
    right = min(len(text), end + _CHARACTERS_PER_SIDE)
    if right < len(text):
        blank = text.rfind(" ", end, right)
        right = blank if blank != -1 else right
    mention = text[start:end] if surface is None else surface
    window = text[left:start] + mention + text[end:right]
    return MentionQuery(window, start - left, start - left + len(mention), label)
