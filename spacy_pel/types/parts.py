"""The interfaces of the parts of a linker."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .data import CandidateTable, Entity, Masks, MentionInText, RankingTask, Rows, Scores, Vectors


class KBReader(Protocol):
    """Streams the entities of source files.

    After the iteration ``report`` counts repairs by kind, ``redirects`` maps retired
    ids to their successors and ``source`` holds origin, version and licence.
    """

    report: dict[str, int]
    redirects: dict[str, str]
    source: dict[str, Any]

    def __call__(self, paths: Sequence[Path]) -> Iterator[Entity]: ...


@runtime_checkable
class Encoder(Protocol):
    """Turns mentions and entities into vectors of one space, whose inner products an index ranks by
    (unit vectors: cosine = inner product). ``encode_mentions`` gives queries, the others rows.

    Constructing one loads no weights and needs no network: weights are loaded by ``from_disk``
    or ``initialize``. ``fingerprint`` changes with weights and templates.
    """

    @property
    def width(self) -> int: ...

    @property
    def fingerprint(self) -> str: ...

    def initialize(self) -> None: ...  # loads or draws initial weights; does nothing if there are weights

    def encode_mentions(self, mentions: Sequence[MentionInText], *, show_progress: bool = False) -> Vectors: ...

    def encode_mention_rows(
        self, mentions: Sequence[MentionInText], *, show_progress: bool = False
    ) -> Vectors: ...  # mentions that represent their entities

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
    def settings(self) -> dict[str, Any]: ...

    @property
    def needs_training(self) -> bool: ...  # do the codes depend on a sample of the vectors?

    def __len__(self) -> int: ...

    def train(self, vectors: Vectors) -> None: ...  # fixes the width; some types learn codes here

    def add(self, vectors: Vectors) -> None: ...

    def finish(self, groups: NDArray[np.uint8] | None = None) -> None: ...  # all rows of a new index are

    # added; groups: (rows,), rows with different numbers are searched apart

    def search(self, vectors: Vectors, k: int, allowed: NDArray[np.bool_] | None = None) -> tuple[Scores, Rows]: ...

    def search_groups(  # the same for several masks at once
        self, vectors: Vectors, k: int, groups: Sequence[NDArray[np.bool_] | None]
    ) -> list[tuple[Scores, Rows]]: ...

    def vectors(self, start: int, stop: int) -> Vectors: ...  # as precise as the codes

    def to_disk(self, path: Path) -> None: ...

    def from_disk(self, path: Path) -> "VectorIndex": ...


@runtime_checkable
class CandidateGenerator(Protocol):
    """Finds entities that a mention may mean: the first step of linking, before any score is combined.

    Constructing one loads nothing and needs no network; ``build`` prepares it for a knowledge base, or
    ``from_disk`` loads what was built earlier. A generator reads the mention's text, not the
    gold answer, and its candidates do not depend on the rest of the batch.

    Attributes:
        registered_name: its name in the registry "pel_candidates".
        needs_encoder: whether it needs the component's encoder and index; ``bind`` sets them, and
            other generators ignore it.
        reads_context: whether the text around a mention counts. If not, each surface form is asked for once.
    """

    registered_name: str

    @property
    def needs_encoder(self) -> bool: ...

    @property
    def reads_context(self) -> bool: ...

    @property
    def settings(self) -> dict[str, Any]: ...

    @property
    def fingerprint(self) -> str: ...  # changes with the settings and the knowledge base built from

    def build(self, kb: Any, *, show_progress: bool = False) -> None: ...

    def bind(self, encoder: Any, index: Any) -> None: ...

    def find_candidates(
        self,
        kb: Any,
        mentions: Sequence[MentionInText],
        *,
        allowed: Masks = None,  # over KB rows
        top_k: int = 64,
    ) -> CandidateTable: ...  # with all FEATURES, best first, at most top_k each

    def add_entities(self, kb: Any, kb_rows: Rows) -> None: ...  # updates after a change of the KB

    def to_disk(self, path: Path) -> None: ...

    def from_disk(self, path: Path) -> "CandidateGenerator": ...


class Combiner(Protocol):
    """Scores candidates from their evidence; the best candidate has the highest score.

    Attributes:
        is_probability: whether the scores are probabilities of being right, if any candidate is: shares of 1.
    """

    is_probability: bool

    def __call__(self, table: CandidateTable) -> Scores: ...  # (n, k), -inf where there is no candidate

    def fit(self, table: CandidateTable, gold: Sequence[NDArray[np.int64]]) -> None: ...

    def state(self) -> dict[str, Any]: ...  # what fit learned, as JSON

    def load_state(self, state: dict[str, Any]) -> None: ...


@runtime_checkable
class NilModel(Protocol):
    """Gives each mention the number that is compared with the NIL threshold.

    Attributes:
        is_probability: whether its numbers are P(NIL) before ``fit``, too. Where neither settings nor calibration
            give a threshold, the linker then gives the more probable answer. Without a threshold and without this, a
            mention is NIL only for lack of candidates.

    If it has a ``record`` (TrackRecord or None) that is not None, the linker sets that before ``fit``, and
    adds what it says to the tables that it gives the model (``features`` of candidates, ``of_mentions``).
    The record is part of the state.
    """

    is_probability: bool

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores: ...  # (n,)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: dict[str, Any]) -> None: ...


class Ranker(Protocol):
    """Rescores the best candidates of a mention from the texts of both.

    Scores of one mention are compared with each other only, as logits: a softmax over a
    mention's candidates gives their shares. Constructing a ranker loads no weights; they are loaded by
    ``from_disk`` or ``initialize``.

    Attributes:
        top_k: number of candidates to rerank; the others keep their order below them.
        mix: weight of the logarithm of the combiner's score next to the ranker's;
            None = both weights are learned.
    """

    top_k: int
    mix: float | None

    @property
    def fingerprint(self) -> str: ...  # changes with weights and templates

    def initialize(self) -> None: ...

    def score(self, task: RankingTask, *, show_progress: bool = False) -> Scores: ...  # (n, k), NaN = none

    def to_disk(self, path: Path) -> None: ...

    def from_disk(self, path: Path) -> "Ranker": ...
