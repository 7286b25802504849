"""The linker's input: a mention, the text around it and its label."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import EncodedMention, MentionInText, Vectors

# More than a template reads on one side of a mention.
_CHARACTERS_PER_SIDE = 2048


class MentionQuery(NamedTuple):
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
    vector: Vectors | None = None

    @property
    def surface(self) -> str:
        """The mention's own text."""
        return self.text[self.start : self.end]

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


class QueryBatch(NamedTuple):
    """What n queries ask for, in one piece.

    Attributes:
        surfaces: (n,).
        is_blank: (n,), whether the mention is only white space, so that there is nothing to link.
        mentions: what the encoder reads, of those that are not blank.
        contexts: of the same mentions, see ``MentionQuery.context``.
    """

    surfaces: list[str]
    is_blank: NDArray[np.bool_]
    mentions: list[MentionInText]
    contexts: list[str]


def read_batch(queries: Sequence[MentionQuery]) -> QueryBatch:
    """Read queries."""
    surfaces = [query.surface for query in queries]
    is_blank = np.array([not surface.strip() for surface in surfaces], dtype=np.bool_)
    present = [query for query, blank in zip(queries, is_blank.tolist(), strict=True) if not blank]
    return QueryBatch(surfaces, is_blank, [query.in_text for query in present], [query.context for query in present])


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
