"""How far the first candidate could be trusted before: what became of annotated mentions, entity by entity,
and word by word.

Some entities attract mentions of what the knowledge base lacks: a general one stands in for each of its kinds
that is not there. How often an entity was first, and how often rightly, in text that is like new text, tells
where to expect that.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import CandidateTable, Scores
from ..util import fingerprint, normalize_alias
from .combiners.linear import right_first
from .examples import Examples
from .surface_record import CountedForms, SurfaceRecord
from .tables import first_candidates, take_mentions

FEATURES = (
    "record_first",  # log(1 + how often the entity was the first candidate of an annotated mention)
    "record_right",  # log odds that it was right then; of all entities together where it never was first
    "record_nil",  # log odds that the mention was NIL then
)
_KINDS = ("first", "right", "nil")  # of counts
_PRIOR = 3.0  # mentions that the shares of all entities together count for


class Read(NamedTuple):
    """What a record says: FEATURES of candidates, (m,) each, and those of SurfaceRecord of mentions, (n,)."""

    of_candidates: dict[str, Scores]
    of_mentions: dict[str, Scores]


class _Outcome(NamedTuple):
    """An annotated mention: the number of its part, or of its document if there is only one part, its
    normalised surface form, its first candidate ("" = none), and what it was."""

    text: int
    form: str
    first: str
    right: bool
    nil: bool


@dataclass(frozen=True)
class TrackRecord:
    """Counts of annotated mentions by their first candidate.

    Attributes:
        ids: (e,), of the entities.
        counts: (e, 3): mentions whose first candidate it was, mentions among these that it was
            right for, and NIL ones.
        surfaces: counts by parts of the surface forms of all mentions.
    """

    ids: Sequence[str]
    counts: NDArray[np.int64]
    surfaces: SurfaceRecord = field(default_factory=SurfaceRecord.empty)

    @classmethod
    def _of(cls, outcomes: Iterable[_Outcome]) -> "TrackRecord":
        counted = Counter(outcomes)
        ids = sorted({one.first for one in counted} - {""})
        place = {one: number for number, one in enumerate(ids)}
        counts = np.zeros((len(ids), 3), dtype=np.int64)
        for one, n in counted.items():
            if one.first:
                counts[place[one.first]] += n * np.array([1, one.right, one.nil])
        forms: CountedForms = Counter()
        for one, n in counted.items():
            forms[one.form, one.nil, one.text] += n
        return cls(ids, counts, SurfaceRecord.of(forms))

    @classmethod
    def empty(cls) -> "TrackRecord":
        """Before any calibration."""
        return cls([], np.zeros((0, 3), dtype=np.int64))

    def read(self, table: CandidateTable, kb: KnowledgeBase, surfaces: Sequence[str]) -> Read:
        """What it says of mentions and their candidates.

        Args:
            table: the candidates of n mentions.
            kb: whose rows they are. Counts of an entity with a successor are the successor's.
            surfaces: (n,), the surface forms of the mentions.

        Returns:
            Of both.
        """
        return Read(self._of_candidates(table, kb), self.surfaces.features(surfaces))

    def _of_candidates(self, table: CandidateTable, kb: KnowledgeBase) -> dict[str, Scores]:
        rows, counts = self._by_row(kb)
        place = np.searchsorted(rows, table.kb_rows)
        known = np.append(rows, -1)[place] == table.kb_rows
        found = np.append(counts, [[0, 0, 0]], axis=0)[np.where(known, place, len(rows))]
        total, n = self.counts.sum(axis=0), found[:, 0]
        columns = [np.log1p(n)]
        for kind in (1, 2):
            share = (total[kind] + 1.0) / (total[0] + 2.0)
            hits = found[:, kind] + _PRIOR * share
            columns.append(np.log(hits / (n + _PRIOR - hits)))
        return {name: values.astype(np.float32) for name, values in zip(FEATURES, columns, strict=True)}

    def of_entity(self, kb_row: int, kb: KnowledgeBase) -> dict[str, int]:
        """How often it was "first", and then "right", and the mention "nil"."""
        rows, counts = self._by_row(kb)
        found = counts[rows == kb_row].sum(axis=0)
        return dict(zip(_KINDS, found.tolist(), strict=True))

    def _by_row(self, kb: KnowledgeBase) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of the knowledge base, ascending, and their (r, 3) counts."""
        if self._key not in kb.memo:
            rows = kb.rows(list(self.ids))
            distinct, which = np.unique(rows[rows >= 0], return_inverse=True)
            counts = np.zeros((len(distinct), 3), dtype=np.int64)
            np.add.at(counts, which, self.counts[rows >= 0])
            kb.memo[self._key] = (distinct, counts)
        found: tuple[NDArray[np.int64], NDArray[np.int64]] = kb.memo[self._key]
        return found

    @cached_property
    def _key(self) -> str:
        return f"track record {fingerprint(list(self.ids), self.counts.tobytes())}"

    def state(self) -> dict[str, Any]:
        """As JSON."""
        counts = dict(zip(_KINDS, self.counts.T.tolist(), strict=True))
        return {"ids": list(self.ids), **counts, "surfaces": self.surfaces.state()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "TrackRecord":
        """As saved by ``state``, perhaps of a version without surface forms."""
        counts = np.array([state[kind] for kind in _KINDS], dtype=np.int64).T
        if "surfaces" not in state:
            return cls(list(state["ids"]), counts)
        return cls(list(state["ids"]), counts, SurfaceRecord.from_state(state["surfaces"]))


def track_record(parts: Sequence[Examples], scores: Sequence[Scores]) -> tuple[TrackRecord, Read]:
    """Count what became of annotated mentions.

    Args:
        parts: annotated mentions, each part with a knowledge base of its own.
        scores: of the candidates of each part.

    Returns:
        The counts of all parts, and what to fit on for all mentions: by the counts of the other
        parts. Of a single part, by those of its other documents, in five folds.
    """
    if len(parts) == 1:
        texts = [parts[0].document_numbers.tolist()]
    else:
        texts = [[number] * len(part) for number, part in enumerate(parts)]
    outcomes = [_outcomes(*one) for one in zip(parts, scores, texts, strict=True)]
    record = TrackRecord._of(one for of_part in outcomes for one in of_part)
    if len(parts) == 1:
        return record, _in_folds(parts[0], outcomes[0])
    found = []
    for number, part in enumerate(parts):
        others = (one for i, of_part in enumerate(outcomes) if i != number for one in of_part)
        found.append(TrackRecord._of(others).read(part.table, part.kb, part.surfaces))
    return record, join_reads(found)


def join_reads(found: Sequence[Read]) -> Read:
    """Of all parts, in order. There must be at least one part."""
    joined = [
        {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        for parts in zip(*found, strict=True)
    ]
    return Read(*joined)


def _in_folds(part: Examples, outcomes: Sequence[_Outcome]) -> Read:
    fold = part.folds
    of_candidate = np.repeat(fold, np.diff(part.table.offsets))
    read = Read({}, {})
    for number in np.unique(fold).tolist():
        others = (one for one, where in zip(outcomes, fold.tolist(), strict=True) if where != number)
        own = np.flatnonzero(fold == number)
        surfaces = [part.surfaces[i] for i in own]
        found = TrackRecord._of(others).read(take_mentions(part.table, own), part.kb, surfaces)
        for whole, of_fold, where in zip(read, found, (of_candidate, fold), strict=True):
            for name, values in of_fold.items():
                whole.setdefault(name, np.zeros(len(where), dtype=np.float32))[where == number] = values
    return read


def _outcomes(part: Examples, scores: Scores, texts: Sequence[int]) -> list[_Outcome]:
    table = part.table
    filled, first = first_candidates(table, scores)
    right = right_first(table, scores, part.gold)
    ids = np.full(len(part), "", dtype=object)
    ids[filled] = part.kb.ids_at(table.kb_rows[first])
    forms = [normalize_alias(surface) for surface in part.surfaces]
    columns = zip(texts, forms, ids.tolist(), right.tolist(), part.is_nil.tolist(), strict=True)
    return [_Outcome(*one) for one in columns]
