"""Entities, mentions and documents, and the protocols of their readers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError

TITLE_LENGTH = "title_length"  # in the meta of a document with a title: its characters, before the abstract
DOC_ID = "pel_doc_id"  # in the user_data of a Doc: the document's id


@dataclass(frozen=True)
class Entity:
    """One concept of a knowledge base, with the fields of scispaCy's JSON lines.

    Attributes:
        concept_id: the id, e.g. a CUI.
        canonical_name: the preferred name.
        aliases: other names; the canonical name need not be repeated.
        types: e.g. semantic type ids such as "T047".
        definition: a gloss, or None.
        xrefs: the same concept in other vocabularies, as compact ids such as "MESH:D001249".
        parents: ids of the broader concepts (is-a).

    Raises:
        PelError: if a field of several texts is one string.
    """

    concept_id: str
    canonical_name: str
    aliases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    definition: str | None = None
    xrefs: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("aliases", "types", "xrefs", "parents"):
            texts = getattr(self, name)
            if isinstance(texts, str):  # would become one alias for each of its letters
                raise PelError(Errors.E115.format(wanted=name, got=repr(texts)))
            if not isinstance(texts, tuple):  # JSON gives lists, but an Entity must be hashable
                object.__setattr__(self, name, tuple(texts))

    def to_json(self) -> dict[str, Any]:
        """One line of the KB interchange format; keys that scispaCy does not know are left out if they are empty."""
        more = {"xrefs": list(self.xrefs), "parents": list(self.parents)}
        return {
            "concept_id": self.concept_id,
            "canonical_name": self.canonical_name,
            "aliases": list(self.aliases),
            "types": list(self.types),
            "definition": self.definition,
            **{name: ids for name, ids in more.items() if ids},
        }


@dataclass(frozen=True)
class Mention:
    """A span of text that names a concept.

    Attributes:
        start, end: character offsets into the document's text, end exclusive.
        label: the NER label, "" if there is none.
        ids: gold entity ids; empty = NIL. Any of them is right.
        composite: all of the ids are meant ("breast and ovarian cancer").
    """

    start: int
    end: int
    label: str = ""
    ids: tuple[str, ...] = ()
    composite: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", tuple(self.ids))


@dataclass
class Document:
    """A text and its mentions: one line of the corpus format."""

    id: str
    text: str
    mentions: list[Mention] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)


class MentionInText(NamedTuple):
    """What the mention tower reads: a text and the mention's character offsets in it."""

    text: str
    start: int
    end: int

    @property
    def surface(self) -> str:
        return self.text[self.start : self.end]


class EncodedMention(MentionInText):
    """A mention whose vector is known, so that nothing needs to encode it.

    Attributes:
        vector: (width,), as ``Encoder.encode_mentions`` would give it. It is not compared: two
            mentions are equal if text and offsets are.
    """

    vector: NDArray[np.float32]

    def __new__(cls, text: str, start: int, end: int, vector: NDArray[np.float32]) -> "EncodedMention":
        self = super().__new__(cls, text, start, end)
        self.vector = vector
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (*self, self.vector)


class Candidate(NamedTuple):
    """An entity proposed for a mention; a higher score is better."""

    entity_id: str
    score: float


class KBReader(Protocol):
    """Streams the entities of source files.

    After the iteration ``report`` counts repairs by kind, ``redirects`` maps retired
    ids to their successors and ``source`` holds origin, version and licence.
    """

    report: dict[str, int]
    redirects: dict[str, str]
    source: dict[str, Any]

    def __call__(self, paths: Sequence[Path]) -> Iterator[Entity]: ...


class CorpusReader(Protocol):
    """Streams the documents of source files; ``report`` counts what was read and repaired."""

    report: dict[str, int]

    def __call__(self, paths: Sequence[Path]) -> Iterator[Document]: ...
