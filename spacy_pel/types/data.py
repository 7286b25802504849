"""The data that the parts of a linker exchange: entities, mentions and documents, and the arrays made of them."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError

NIL = "NIL"  # the id of a mention whose concept the knowledge base lacks

# features of a CandidateTable beside those of the evidence
LABEL_TYPE = "label_type"  # P(type of the entity | label of the mention), see ``linking/mention_types.py``
MENTION_TYPE = "mention_type"  # P(type of the entity | mention in its context), see ``linking/mention_types.py``
UNRELATED = "unrelated"  # of a mention: the cosine of an entity that has nothing to do with it, see ``evidence.py``
TOPIC = "topic"  # P(entity | text), from annotated texts near the mention's, see ``index/annotated_text.py``

Vectors = NDArray[np.float32]  # (n, width)
Scores = NDArray[np.float32]
Rows = NDArray[np.int64]
Numbers = NDArray[np.int64]  # of anything but rows
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Mask = Flags | None  # over the rows of an index or a knowledge base; None = all
Masks = Sequence[Mask] | None  # of each mention; None = all rows for all of them

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


ORIGINAL = "original"  # in the meta of a document whose text was changed


def is_original(record: Any) -> bool:
    """Whether a value of ``meta`` may be what ``spacy_pel.training.offset_map.Original`` reads."""
    return isinstance(record, dict) and {"id", "offsets", "text_hash"} <= record.keys()


class MentionInText(NamedTuple):
    """What the mention tower reads: a text and the mention's character offsets in it."""

    text: str
    start: int
    end: int

    @property
    def surface(self) -> str:
        return self.text[self.start : self.end]


class Candidate(NamedTuple):
    """An entity proposed for a mention; a higher score is better."""

    entity_id: str
    score: float


@dataclass
class CandidateTable:
    """Evidence for the candidates of n mentions, up to k each. A combiner turns ``features`` into scores, a NIL
    model into P(NIL).

    Attributes:
        kb_rows: (n, k) int64, rows of the knowledge base; -1 = no candidate, behind all others of the mention.
        features: name -> (n, k) float32; names in ``FEATURES`` of ``candidates/evidence.py``, and
            LABEL_TYPE, MENTION_TYPE and TOPIC where these are known.
            What it is where there is no candidate means nothing.
        vectors: (n, width) of the mentions, where they are known.
        of_mentions: name -> (n,) float32, what is known of the mentions themselves; see ``SurfaceRecord``.
    """

    kb_rows: Rows
    features: dict[str, Scores]
    vectors: Vectors | None = None
    of_mentions: dict[str, Scores] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.kb_rows)

    @cached_property
    def filled(self) -> NDArray[np.bool_]:
        """(n, k), where there is a candidate."""
        return self.kb_rows >= 0

    @cached_property
    def has_candidates(self) -> NDArray[np.bool_]:
        """(n,), which mentions have any."""
        return self.filled.any(axis=1)

    @cached_property
    def cosines(self) -> Scores:
        """(n, k), see ``best_cosines``."""
        return best_cosines(self.features)

    def take(self, rows: NDArray[np.int64]) -> "CandidateTable":
        """The mentions of the given positions; a position may occur twice."""
        return self._each(lambda array: array[rows])

    def zeros(self, n: int) -> "CandidateTable":
        """A table like this one for n mentions, to be filled by ``put``."""
        return self._each(lambda array: np.zeros((n, *array.shape[1:]), dtype=array.dtype))

    def _each(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> "CandidateTable":
        return CandidateTable(
            change(self.kb_rows),
            {name: change(values) for name, values in self.features.items()},
            None if self.vectors is None else change(self.vectors),
            {name: change(values) for name, values in self.of_mentions.items()},
        )

    def plus(self, features: Mapping[str, Scores], of_mentions: Mapping[str, Scores] | None = None) -> "CandidateTable":
        """A copy with more features, (n, k) each, and more that is known of the mentions, (n,) each; the other
        arrays are shared."""
        table = copy.copy(self)  # with what is known of ``kb_rows``
        table.features = {**self.features, **features}
        table.of_mentions = {**self.of_mentions, **(of_mentions or {})}
        return table

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All of them; the first axis is the mention's."""
        vectors = [] if self.vectors is None else [self.vectors]
        return [self.kb_rows, *self.features.values(), *vectors, *self.of_mentions.values()]

    def put(self, rows: NDArray[np.int64], table: "CandidateTable") -> None:
        """Overwrite mentions by those of a table with the same features, and as many or fewer candidates."""
        for name in ("filled", "has_candidates", "cosines"):
            vars(self).pop(name, None)
        for ours, theirs in zip(self.arrays, table.widened(self.kb_rows.shape[1]).arrays, strict=True):
            ours[rows] = theirs

    def widened(self, width: int) -> "CandidateTable":
        """With room for this many candidates, at least; this table itself if it has it."""
        more = width - self.kb_rows.shape[1]
        if more <= 0:
            return self
        pad = ((0, 0), (0, more))
        features = {name: np.pad(values, pad) for name, values in self.features.items()}
        return replace(self, kb_rows=np.pad(self.kb_rows, pad, constant_values=-1), features=features)

    @classmethod
    def concatenate(cls, tables: "Sequence[CandidateTable]") -> "CandidateTable":
        """The mentions of all tables, in order. There must be at least one table."""
        if len(tables) == 1:
            return tables[0]
        width = max(table.kb_rows.shape[1] for table in tables)
        tables = [table.widened(width) for table in tables]
        vectors = [table.vectors for table in tables if table.vectors is not None]
        return cls(
            np.concatenate([table.kb_rows for table in tables]),
            {name: np.concatenate([table.features[name] for table in tables]) for name in tables[0].features},
            np.concatenate(vectors) if len(vectors) == len(tables) else None,
            {name: np.concatenate([table.of_mentions[name] for table in tables]) for name in tables[0].of_mentions},
        )


def best_cosines(features: Mapping[str, Scores]) -> Scores:
    """The best cosine over all rows of each candidate. "mention" counts only where a mention row of the entity was
    found (it votes then); elsewhere it is the score of another entity's row."""
    name, mention = features["name"], features["mention"]
    return np.where(features["vote"] > 0, np.maximum(name, mention), name)


class RankedRows(NamedTuple):
    """Up to k entities found for each of n mentions, best first, each entity once.

    Attributes:
        kb_rows: (n, k) int64, rows of the knowledge base; -1 = none, behind all others of the mention.
        scores: (n, k) float32, the higher the better; comparable within a mention; -inf = none.
    """

    kb_rows: Rows
    scores: Scores

    @classmethod
    def of(cls, lists: Sequence[tuple[Rows, Scores]]) -> "RankedRows":
        """Lay out what was found for each mention, as wide as the longest list."""
        shape = (len(lists), max([1, *(len(rows) for rows, _ in lists)]))
        ranked = cls(np.full(shape, -1, dtype=np.int64), np.full(shape, -np.inf, dtype=np.float32))
        for number, (rows, scores) in enumerate(lists):
            ranked.kb_rows[number, : len(rows)] = rows
            ranked.scores[number, : len(rows)] = scores
        return ranked

    @property
    def lists(self) -> list[tuple[Rows, Scores]]:
        """What was found for each mention."""
        return [(rows[rows >= 0], scores[rows >= 0]) for rows, scores in zip(self.kb_rows, self.scores, strict=True)]


@dataclass
class RankingTask:
    """Candidates of n mentions, up to k each, that a ranker reads together with their mentions.

    Attributes:
        mentions: (n,).
        entities: each distinct candidate once.
        rows: (n, k), which of the entities each candidate is; -1 = none.
    """

    mentions: Sequence[MentionInText]
    entities: Sequence[Entity]
    rows: Rows

    @classmethod
    def of(cls, mentions: Sequence[MentionInText], kb_rows: Rows, entity_at: Callable[[int], Entity]) -> "RankingTask":
        """Look up the entities of candidates.

        Args:
            mentions: (n,).
            kb_rows: (n, k), -1 = none.
            entity_at: the entity of a row.
        """
        distinct, rows = np.unique(kb_rows, return_inverse=True)
        n_none = int((distinct < 0).any())  # -1 comes first
        entities = [entity_at(int(row)) for row in distinct[n_none:]]
        return cls(mentions, entities, rows.reshape(kb_rows.shape) - n_none)

    @property
    def pairs(self) -> tuple[Rows, Rows]:
        """(m,) each, mention and entity of each candidate, mention by mention."""
        owner, place = np.nonzero(self.rows >= 0)
        return owner, self.rows[owner, place]

    def spread(self, scores: Scores) -> Scores:
        """(n, k) of the scores of the m pairs; NaN where there is none."""
        table = np.full(self.rows.shape, np.nan, dtype=np.float32)
        table[self.rows >= 0] = scores
        return table
