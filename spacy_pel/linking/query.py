"""The linker's input: a mention, the text around it and its label."""

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    """

    text: str
    start: int
    end: int
    label: str = ""

    @property
    def surface(self) -> str:
        """The mention's own text."""
        return self.text[self.start : self.end]

    @property
    def in_text(self) -> MentionInText:
        """What the encoder reads."""
        return MentionInText(self.text, self.start, self.end)

    @property
    def document(self) -> str:
        """The text of the document that the mention is in."""
        return self.text

    @property
    def around(self) -> str:
        """The text of the document; "" if that is the mention itself."""
        return "" if self.start == 0 and self.end == len(self.text) else self.document

    @property
    def is_blank(self) -> bool:
        """Whether the mention is only white space, so that there is nothing to link."""
        return not self.surface.strip()


class EncodedQuery(MentionQuery):
    """A mention to be linked by a vector that is known, without encoding it.

    Attributes:
        vector: (width,), as the linker's encoder would give it.
        document: the text of the document; None = the query's text.
    """

    vector: Vectors
    _document: str | None = None

    def __new__(
        cls, text: str, start: int, end: int, label: str, vector: Vectors, document: str | None = None
    ) -> "EncodedQuery":
        self = super().__new__(cls, text, start, end, label)
        self.vector = vector
        self._document = document
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (*self, self.vector, self._document)

    @property
    def document(self) -> str:
        """The text of the document that the mention is in."""
        return self.text if self._document is None else self._document

    @property
    def in_text(self) -> EncodedMention:
        """What the encoder would read, with its vector."""
        return EncodedMention(self.text, self.start, self.end, self.vector)


class ReplacedQuery(MentionQuery):
    """A mention to be linked whose surface form was replaced, see ``replace_mention``.

    Attributes:
        document: the text of the document, as it was.
    """

    _document: str | None = None

    def __new__(cls, query: MentionQuery, document: str) -> "ReplacedQuery":
        self = super().__new__(cls, *query)
        self._document = document
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:  # type: ignore[override]
        return MentionQuery(*self), self.document

    @property
    def document(self) -> str:
        """The text of the document, with the surface form that was replaced."""
        return self.text if self._document is None else self._document


def read_batch(queries: Sequence[MentionQuery]) -> tuple[list[MentionInText], NDArray[np.bool_]]:
    """A batch of queries as the encoder reads it, in one call.

    Args:
        queries: (n,) mentions.

    Returns:
        The mentions that are more than white space, and
        (n,) which of the queries these are.
    """
    present = [bool(text[start:end].strip()) for text, start, end, _ in queries]
    mentions = [query.in_text for query, keep in zip(queries, present, strict=True) if keep]
    return mentions, np.array(present, dtype=np.bool_)


def replace_mention(query: MentionQuery, surface: str) -> MentionQuery:
    """Replace the mention by another surface form in the same context.

    Args:
        query: the mention.
        surface: replaces the mention, e.g. an abbreviation by its long form.

    Returns:
        With a copy of the text around the mention, cut at blanks: a long document
        is not copied whole.
    """
    text, start, end, label = query
    left = max(0, start - _CHARACTERS_PER_SIDE)
    if left:
        left = max(left, text.find(" ", left, start))
    right = min(len(text), end + _CHARACTERS_PER_SIDE)
    if right < len(text):
        blank = text.rfind(" ", end, right)
        right = blank if blank != -1 else right
    window = text[left:start] + surface + text[end:right]
    replaced = MentionQuery(window, start - left, start - left + len(surface), label)
    return ReplacedQuery(replaced, query.document)
