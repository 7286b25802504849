"""The words of this package: what flows between its parts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import (
    Any,
    Dict,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Protocol,
    Sequence,
    Tuple,
    runtime_checkable,
)

import numpy as np
from numpy.typing import NDArray

NIL = "NIL"  # the id of a mention whose concept the knowledge base lacks

Vectors = NDArray[np.float32]  # (n, width)
Scores = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Entity:
    """One concept of a knowledge base, with the fields of scispaCy's JSON lines.

    concept_id (str): the id, e.g. a CUI.
    canonical_name (str): the preferred name.
    aliases (Tuple[str, ...]): other names; the canonical name need not be repeated.
    types (Tuple[str, ...]): e.g. semantic type ids such as "T047".
    definition (Optional[str]): a gloss, or None.
    """

    concept_id: str
    canonical_name: str
    aliases: Tuple[str, ...] = ()
    types: Tuple[str, ...] = ()
    definition: Optional[str] = None

    def __post_init__(self) -> None:
        # lists are welcome (JSON gives lists), but an Entity must be hashable
        object.__setattr__(self, "aliases", tuple(self.aliases))
        object.__setattr__(self, "types", tuple(self.types))

    def to_json(self) -> Dict[str, Any]:
        """RETURNS (dict): one line of the KB interchange format."""
        return {
            "concept_id": self.concept_id,
            "canonical_name": self.canonical_name,
            "aliases": list(self.aliases),
            "types": list(self.types),
            "definition": self.definition,
        }


@dataclass(frozen=True)
class Mention:
    """A stretch of text that names a concept.

    start, end (int): character offsets into the document's text, end exclusive.
    label (str): the NER label, "" if there is none.
    ids (Tuple[str, ...]): gold entity ids; empty = NIL. Any of them is right.
    composite (bool): all of the ids are meant ("breast and ovarian cancer").
    """

    start: int
    end: int
    label: str = ""
    ids: Tuple[str, ...] = ()
    composite: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", tuple(self.ids))


@dataclass
class Document:
    """A text and its mentions: one line of the corpus format."""

    id: str
    text: str
    mentions: List[Mention] = field(default_factory=list)
    meta: Dict[str, Any] = field(default_factory=dict)


class Candidate(NamedTuple):
    """An entity proposed for a mention; a higher score is better."""

    entity_id: str
    score: float


class KBReader(Protocol):
    """Streams the entities of source files.

    After the iteration ``report`` counts repairs by kind, ``redirects`` maps retired
    ids to their successors and ``source`` holds origin, version and licence.
    """

    report: Dict[str, int]
    redirects: Dict[str, str]
    source: Dict[str, Any]

    def __call__(self, paths: Sequence[Path]) -> Iterator[Entity]: ...


class CorpusReader(Protocol):
    """Streams the documents of source files; ``report`` counts what was seen and repaired."""

    report: Dict[str, int]

    def __call__(self, paths: Sequence[Path]) -> Iterator[Document]: ...


class MentionInText(NamedTuple):
    """What the mention tower reads: a text and the mention's character offsets in it."""

    text: str
    start: int
    end: int

    @property
    def surface(self) -> str:
        return self.text[self.start : self.end]


@runtime_checkable
class Encoder(Protocol):
    """Turns mentions and entities into vectors of one space, whose inner products an index ranks by
    (unit vectors: cosine = inner product). ``encode_mentions`` gives queries, the others rows.

    Constructing one loads no weights and needs no network: they arrive by ``from_disk``
    or ``initialize``. ``fingerprint`` changes with weights and templates.
    """

    @property
    def width(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    def initialize(self) -> None: ...  # loads or makes first weights; does nothing if there are some

    def encode_mentions(
        self, mentions: Sequence[MentionInText], *, show_progress: bool = False
    ) -> Vectors: ...

    def encode_mention_rows(
        self, mentions: Sequence[MentionInText], *, show_progress: bool = False
    ) -> Vectors: ...  # mentions that stand for their entities

    def encode_entities(self, entities: Sequence[Entity], *, show_progress: bool = False) -> Vectors: ...

    def encode_names(self, names: Sequence[str], *, show_progress: bool = False) -> Vectors: ...

    def to_disk(self, path: Path) -> None: ...

    def from_disk(self, path: Path) -> "Encoder": ...


@runtime_checkable
class VectorIndex(Protocol):
    """Nearest neighbours by inner product over float32 vectors; rows count from 0.

    ``registry.pel_indexes.get(name)(**settings)`` builds an empty one of the same kind.
    """

    name: str
    width: int

    @property
    def settings(self) -> Dict[str, Any]: ...

    @property
    def needs_training(self) -> bool: ...  # do the codes depend on a sample of the vectors?

    def __len__(self) -> int: ...

    def train(self, vectors: Vectors) -> None: ...  # fixes the width; some types learn codes here

    def add(self, vectors: Vectors) -> None: ...

    def search(
        self, vectors: Vectors, k: int, allowed: Optional[NDArray[np.bool_]] = None
    ) -> Tuple[Scores, Rows]: ...

    def vectors(self, start: int, stop: int) -> Vectors: ...  # as far as the codes keep them

    def to_disk(self, path: Path) -> None: ...

    def from_disk(self, path: Path) -> "VectorIndex": ...


@dataclass
class CandidateTable:
    """Evidence for the candidates of n mentions, ragged: candidate j belongs to the
    mention i with ``offsets[i] <= j < offsets[i + 1]``. A combiner turns ``features``
    into scores, a NIL model into P(NIL).

    kb_rows: (m,) int64, rows of the knowledge base.
    offsets: (n + 1,) int64.
    features: name -> (m,) float32; names in ``FEATURES`` of ``indexes/evidence.py``.
    vectors: (n, width) of the mentions, where they are known.
    """

    kb_rows: Rows
    offsets: Rows
    features: Dict[str, Scores]
    vectors: Optional[Vectors] = None

    def __len__(self) -> int:
        return len(self.offsets) - 1


class RankedRows(NamedTuple):
    """Entities found for n mentions, ragged: the pairs of mention i are ``offsets[i]:offsets[i + 1]``,
    best first, each entity once.

    kb_rows: (m,) int64, rows of the knowledge base.
    scores: (m,) float32, the higher the better; comparable within a mention.
    offsets: (n + 1,) int64.
    """

    kb_rows: Rows
    scores: Scores
    offsets: Rows


@runtime_checkable
class CandidateGenerator(Protocol):
    """Finds entities that a mention may mean: the first step of linking, before any score is combined.

    Constructing one reads nothing and needs no network; ``build`` prepares it for a knowledge base, or
    ``from_disk`` reads what an earlier ``build`` made. A generator reads the mention's text, not the
    gold answer, and gives the same candidates whatever else is in the batch.

    registered_name (str): its name in the registry "pel_candidates".
    needs_encoder (bool): whether it works on the vectors of the component's encoder and index; such a
        one is given them by ``bind``, the others ignore it.
    """

    registered_name: str

    @property
    def needs_encoder(self) -> bool: ...

    @property
    def settings(self) -> Dict[str, Any]: ...

    @property
    def fingerprint(self) -> str: ...  # changes with the settings and the knowledge base built from

    def build(self, kb: Any, *, show_progress: bool = False) -> None: ...

    def bind(self, encoder: Any, index: Any) -> None: ...

    def generate(
        self,
        kb: Any,
        mentions: Sequence["MentionInText"],
        *,
        allowed: Optional[Sequence[Optional[NDArray[np.bool_]]]] = None,  # of each mention, over KB rows
        top_k: int = 64,
    ) -> CandidateTable: ...  # with all FEATURES, best first, at most top_k each

    def add_entities(self, kb: Any, kb_rows: Rows) -> None: ...  # follows a change of the KB

    def to_disk(self, path: Path) -> None: ...

    def from_disk(self, path: Path) -> "CandidateGenerator": ...


class Combiner(Protocol):
    """Scores candidates from their evidence; the best candidate has the highest score."""

    def __call__(self, table: CandidateTable) -> Scores: ...  # (m,)

    def fit(self, table: CandidateTable, gold: Sequence[NDArray[np.int64]]) -> None: ...

    def state(self) -> Dict[str, Any]: ...  # what fit learned, as JSON

    def load_state(self, state: Dict[str, Any]) -> None: ...


@runtime_checkable
class NilModel(Protocol):
    """Gives each mention the number that is compared with the NIL threshold."""

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores: ...  # (n,)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None: ...

    def state(self) -> Dict[str, Any]: ...

    def load_state(self, state: Dict[str, Any]) -> None: ...


@dataclass
class RankingTask:
    """Candidates of n mentions, ragged, that a ranker reads together with their mentions.

    mentions (Sequence[MentionInText]): (n,).
    entities (Sequence[Entity]): each distinct candidate once.
    rows: (m,) int64, which of the entities candidate j is.
    offsets: (n + 1,) int64, candidate j belongs to the mention i with ``offsets[i] <= j < offsets[i + 1]``.
    """

    mentions: Sequence[MentionInText]
    entities: Sequence[Entity]
    rows: Rows
    offsets: Rows

    @property
    def owners(self) -> Rows:
        """RETURNS (NDArray[int64]): (m,) the mention of each candidate."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


class Ranker(Protocol):
    """Scores the few best candidates of a mention anew, from the texts of both.

    Scores of one mention are compared with each other only, as logits: a softmax over a
    mention's candidates gives their shares. Constructing a ranker loads no weights; they arrive by
    ``from_disk`` or ``initialize``.

    top_k (int): so many of the best candidates are read; the others keep their order behind them.
    mix (Optional[float]): weight of the logarithm of the combiner's score beside the ranker's;
        None = both weights are learned.
    """

    top_k: int
    mix: Optional[float]

    @property
    def fingerprint(self) -> str: ...  # changes with weights and templates

    def initialize(self) -> None: ...

    def score(self, task: RankingTask, *, show_progress: bool = False) -> Scores: ...  # (m,)

    def to_disk(self, path: Path) -> None: ...

    def from_disk(self, path: Path) -> "Ranker": ...
