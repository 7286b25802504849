"""A corrected mention, and what the log keeps of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...errors import Errors, PelError, quoted
from ...util.clock import now
from ...util.excerpts import words_around
from ..query import MentionQuery

_AROUND = 60  # characters of context on each side that the log keeps
Place = tuple[str, int, int]


@dataclass(frozen=True)
class Correction:
    """A mention and its right answer.

    text (str): the document.
    start, end (int): the mention's character offsets in it, end exclusive.
    kb_id (str): an id of the knowledge base, or "NIL".
    label (str): the NER label, "" if there is none.
    doc (str): id of the document, "" if it has none.
    where (str): where it was read, for errors, e.g. "fixes.jsonl, line 3".
    explicit (bool): someone said that this is the answer. Otherwise it may be the linker's own, and counts
        only if the linker now answers something else.
    RAISES (PelError): if the offsets are not those of a mention.
    """

    text: str
    start: int
    end: int
    kb_id: str
    label: str = ""
    doc: str = ""
    where: str = ""
    explicit: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end <= len(self.text) or not self.surface.strip():
            got = f"{self.start} to {self.end}"
            if 0 <= self.start < self.end <= len(self.text):
                got += ", which is white space"
            raise PelError(
                Errors.E531.format(
                    where=self.where and f" ({self.where})",
                    last=len(self.text),
                    text=quoted(self.text[:40]),
                    got=got,
                )
            )

    @property
    def surface(self) -> str:
        """RETURNS (str): the mention's own text."""
        return self.text[self.start : self.end]


@dataclass(frozen=True)
class Learned:
    """A correction in the log.

    id (int): its number in the log, from 1.
    at (str): when, in UTC, as in "2026-11-22T14:30:00Z".
    by (str): who, "" = not known.
    doc (str): id of the document, "" if it has none.
    start, end (int): the mention's offsets in it.
    text (str): the mention as written.
    form (str): the mention as the linker reads it: the long form of an abbreviation, otherwise the same.
    label (str): its NER label.
    before (str): the linker's answer before: an id, or "NIL".
    after (str): the right answer.
    sha256 (str): of the document's text.
    read_sha256 (str): of the text that the linker reads: a part of it with the long form of an abbreviation,
        otherwise the same.
    context (str): the mention, and whole words of up to 60 characters before and after it.
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

    @classmethod
    def of(
        cls, given: Correction, query: MentionQuery, *, id: int, by: str, before: str, after: str
    ) -> "Learned":
        """RETURNS (Learned): the entry of a correction, made now."""
        left, right = words_around(given.text, given.start, given.end, _AROUND)
        return cls(
            id=id,
            at=now(),
            by=by,
            doc=given.doc,
            start=given.start,
            end=given.end,
            text=given.surface,
            form=query.surface,
            label=given.label,
            before=before,
            after=after,
            sha256=hash_of(given.text),
            read_sha256=hash_of(query.text),
            context=given.text[left:right],
        )

    @property
    def place(self) -> Place:
        """RETURNS (Tuple[str, int, int]): which mention of which text it is; a later correction of the same
        one replaces it."""
        return self.sha256, self.start, self.end

    def to_json(self) -> dict[str, Any]:
        """RETURNS (Dict[str, Any]): as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Learned":
        """RETURNS (Learned): from ``to_json``.

        RAISES (ValueError): if a key is missing, or a value has another type.
        """
        values = {}
        for field in fields(cls):
            value = record.get(field.name)
            if not isinstance(value, field.type):  # type: ignore[arg-type]
                raise ValueError(f"{field.name!r} is {value!r}")
            values[field.name] = value
        return cls(**values)


def hash_of(text: str) -> str:
    """RETURNS (str): the SHA-256 hash of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf8", "surrogatepass")).hexdigest()
