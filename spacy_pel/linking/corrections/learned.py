"""A corrected mention, and what the log keeps of it."""

import hashlib
from dataclasses import dataclass

from ...errors import Errors, PelError, quoted
from ...util.console import now, words_around
from ..query import MentionQuery

_AROUND = 60  # characters of context on each side that the log keeps


@dataclass(frozen=True)
class Correction:
    """A mention and its right answer.

    Attributes:
        text: the document.
        start, end: the mention's character offsets in it, end exclusive.
        kb_id: an id of the knowledge base, or "NIL".
        label: the NER label, "" if there is none.
        doc: id of the document, "" if it has none.
        where: where it was read, for errors, e.g. "fixes.jsonl, line 3".
        explicit: someone said that this is the answer. Otherwise it may be the linker's own, and counts
            only if the linker now answers something else.
        always: its surface form has this answer in all texts, whatever annotated text says.

    Raises:
        PelError: if the offsets are not those of a mention.
    """

    text: str
    start: int
    end: int
    kb_id: str
    label: str = ""
    doc: str = ""
    where: str = ""
    explicit: bool = True
    always: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= len(self.text) or not self.surface.strip():
            is_blank = 0 <= self.start < self.end <= len(self.text)
            got = f"{self.start} to {self.end}{', which is white space' if is_blank else ''}"
            where, text = self.where and f" ({self.where})", quoted(self.text[:40])
            raise PelError(Errors.E531.format(where=where, last=len(self.text), text=text, got=got))

    @property
    def surface(self) -> str:
        """The mention's own text."""
        return self.text[self.start : self.end]


@dataclass(frozen=True)
class Learned:
    """A correction in the log.

    Attributes:
        id: its number in the log, from 1.
        at: when, in UTC, as in "2026-11-22T14:30:00Z".
        by: who, "" = not known.
        doc: id of the document, "" if it has none.
        start, end: the mention's offsets in it.
        text: the mention as written.
        form: the mention as the linker reads it: the long form of an abbreviation, otherwise the same.
        label: its NER label.
        before: the linker's answer before: an id, or "NIL".
        after: the right answer.
        sha256: of the document's text.
        read_sha256: of the text that the linker reads: a part of it with the long form of an abbreviation,
            otherwise the same.
        context: the mention, and whole words of up to 60 characters before and after it.
        always: whether it decides in all texts, whatever annotated text says.
    """

    id: int
    at: str
    by: str
    doc: str
    start: int
    end: int
    text: str
    form: str
    label: str
    before: str
    after: str
    sha256: str
    read_sha256: str
    context: str
    always: bool = False

    @classmethod
    def of(cls, correction: Correction, query: MentionQuery, *, id: int, by: str, before: str, after: str) -> "Learned":
        """The entry of a correction, made now."""
        left, right = words_around(correction.text, correction.start, correction.end, _AROUND)
        return cls(
            id=id,
            at=now(),
            by=by,
            doc=correction.doc,
            start=correction.start,
            end=correction.end,
            text=correction.surface,
            form=query.surface,
            label=correction.label,
            before=before,
            after=after,
            sha256=hash_of(correction.text),
            read_sha256=hash_of(query.text),
            context=correction.text[left:right],
            always=correction.always,
        )

    @property
    def key(self) -> tuple[str, int, int]:
        """Which mention of which text it is; a later correction of the same
        one replaces it."""
        return self.sha256, self.start, self.end


def hash_of(text: str) -> str:
    """The SHA-256 hash of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf8", "surrogatepass")).hexdigest()
