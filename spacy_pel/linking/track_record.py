"""How often each entity was ranked first and was right in the calibration text; and how often mentions with a
word were NIL.

Some entities attract mentions of what the knowledge base lacks: a general one stands in for each of its kinds
that is not there. How often an entity was first, and how often rightly, in text that is like new text, tells
where to expect that.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from ..kb import KnowledgeBase
from ..types import CandidateTable, Numbers, Scores
from ..util import fingerprint, normalize_alias

FEATURES = (
    "record_first",  # log(1 + how often the entity was the first candidate of an annotated mention)
    "record_right",  # log odds that it was right then; of all entities together where it never was first
    "record_nil",  # log odds that the mention was NIL then
)
_KINDS = ("first", "right", "nil")  # of counts
_PRIOR = 3.0  # mentions that the shares of all entities, or of all mentions, count for


KINDS = ("first_word", "last_word", "ending")  # of parts of a form whose mentions are counted
SHAPE = ("characters", "words", "capitals", "capital", "digits")
WORD_FEATURES = (
    *(f"{kind}_{what}" for kind in KINDS for what in ("nil", "seen")),  # log odds of NIL; log(1 + mentions)
    *SHAPE,  # how many; 1 if all letters are capitals, if the first character is one, if there is a digit
)
_ENDING = 4  # characters
# Texts, or parts of the calibration's text. What a single one has says little of other text: its concept may
# be new to the knowledge base for that text alone.
_MIN_TEXTS = 2
_ROWS = 20_000  # surface forms to remember

CountedForms = Counter[tuple[str, bool, Hashable]]
Counts = dict[str, tuple[int, int]]  # part of a form -> mentions, NIL ones among them


def _log_odds(hits: Any, n: Any, share: float) -> Any:
    """Of hits among n mentions, to which _PRIOR mentions with this share of hits are added."""
    hits = hits + _PRIOR * share
    return np.log(hits / (n + _PRIOR - hits))


@dataclass(frozen=True)
class SurfaceRecord:
    """Counts of annotated mentions by parts of their normalised surface forms. They stay as they are when the
    knowledge base gets a concept that it lacked: calibrate again after many additions.

    Attributes:
        counts: for each of KINDS the parts that mentions of at least two texts have.
        total: all mentions, and the NIL ones.
    """

    counts: Mapping[str, Counts]
    total: tuple[int, int]
    _rows: dict[str, list[float]] = field(default_factory=dict, compare=False, repr=False)  # of forms asked for

    @classmethod
    def of(cls, counted: CountedForms) -> "SurfaceRecord":
        """Of annotated mentions, counted by normalised surface form, whether it is
        NIL, and its text, or the part that this belongs to."""
        counts: dict[str, Counts] = {kind: {} for kind in KINDS}
        texts: dict[str, dict[str, set[Hashable]]] = {kind: {} for kind in KINDS}
        for (form, nil, text), n in counted.items():
            for kind, part in _parts(form).items():
                seen, of_nil = counts[kind].get(part, (0, 0))
                counts[kind][part] = (seen + n, of_nil + n * nil)
                texts[kind].setdefault(part, set()).add(text)
        frequent = {
            kind: {part: n for part, n in sorted(of_kind.items()) if len(texts[kind][part]) >= _MIN_TEXTS}
            for kind, of_kind in counts.items()
        }
        return cls(frequent, (sum(counted.values()), sum(n for (_, nil, _), n in counted.items() if nil)))

    def features(self, surfaces: Sequence[str]) -> dict[str, Scores]:
        """WORD_FEATURES, (n,) each, of mentions with these surface forms."""
        if len(self._rows) > _ROWS:
            self._rows.clear()
        values = np.array([self._row(surface) for surface in surfaces], dtype=np.float32)
        return dict(zip(WORD_FEATURES, values.reshape(-1, len(WORD_FEATURES)).T, strict=True))

    def _row(self, surface: str) -> list[float]:
        if surface in self._rows:
            return self._rows[surface]
        share = (self.total[1] + 1.0) / (self.total[0] + 2.0)
        row: list[float] = []
        for kind, part in _parts(normalize_alias(surface)).items():
            n, nil = self.counts[kind].get(part, (0, 0))
            row += [float(_log_odds(nil, n, share)), float(np.log1p(n))]
        letters = [letter for letter in surface if letter.isalpha()]
        capitals = bool(letters) and all(map(str.isupper, letters))
        digits = any(map(str.isdigit, surface))
        row += [len(surface), len(surface.split()), capitals, surface[:1].isupper(), digits]
        self._rows[surface] = row
        return row

    def state(self) -> dict[str, Any]:
        """As JSON."""
        state: dict[str, Any] = {"total": list(self.total)}
        for kind, of_kind in self.counts.items():
            seen, nil = ([pair[column] for pair in of_kind.values()] for column in (0, 1))
            state[kind] = {"parts": list(of_kind), "seen": seen, "nil": nil}
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "SurfaceRecord":
        """As saved by ``state``."""
        counts = {}
        for kind in KINDS:
            parts, seen, nil = (state[kind][key] for key in ("parts", "seen", "nil"))
            counts[kind] = dict(zip(parts, zip(seen, nil, strict=True), strict=True))
        return cls(counts, (state["total"][0], state["total"][1]))


def _parts(form: str) -> dict[str, str]:
    """The part of each of KINDS."""
    words = form.split(" ")
    return dict(zip(KINDS, (words[0], words[-1], form[-_ENDING:]), strict=True))


class Outcome(NamedTuple):
    """An annotated mention.

    Attributes:
        text: its part, or its document if there is only one part.
        form: its normalised surface form.
        first: the id of its first candidate, "" = none.
        right: whether that is its entity.
        nil: whether its entity is not in the KB.
    """

    text: Hashable
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
    counts: Numbers
    surfaces: SurfaceRecord = field(default_factory=partial(SurfaceRecord.of, Counter()))

    @classmethod
    def of(cls, counted: Counter[Outcome]) -> "TrackRecord":
        """Of annotated mentions, counted."""
        ids = sorted({outcome.first for outcome in counted} - {""})
        rows = {entity_id: row for row, entity_id in enumerate(ids)}
        counts = np.zeros((len(ids), 3), dtype=np.int64)
        forms: CountedForms = Counter()
        for outcome, n in counted.items():
            if outcome.first:
                counts[rows[outcome.first]] += n * np.array([1, outcome.right, outcome.nil])
            forms[outcome.form, outcome.nil, outcome.text] += n
        return cls(ids, counts, SurfaceRecord.of(forms))

    def added_to(self, table: CandidateTable, kb: KnowledgeBase, surfaces: Sequence[str]) -> CandidateTable:
        """The table with FEATURES of candidates and WORD_FEATURES of mentions.

        Args:
            table: the candidates of n mentions.
            kb: whose rows they are. Counts of an entity with a successor are the successor's.
            surfaces: (n,), the surface forms of the mentions.
        """
        return table.plus(self._of_candidates(table, kb), self.surfaces.features(surfaces))

    def _of_candidates(self, table: CandidateTable, kb: KnowledgeBase) -> dict[str, Scores]:
        rows, counts = self._by_row(kb)
        position = np.searchsorted(rows, table.kb_rows)
        is_counted = np.append(rows, -1)[position] == table.kb_rows
        counts = np.append(counts, [[0, 0, 0]], axis=0)[np.where(is_counted, position, len(rows))]
        total, n = self.counts.sum(axis=0), counts[..., 0]
        odds = (_log_odds(counts[..., kind], n, (total[kind] + 1.0) / (total[0] + 2.0)) for kind in (1, 2))
        return {name: values.astype(np.float32) for name, values in zip(FEATURES, (np.log1p(n), *odds), strict=True)}

    def of_entity(self, kb_row: int, kb: KnowledgeBase) -> dict[str, int]:
        """How often it was "first", and then "right", and the mention "nil"."""
        rows, counts = self._by_row(kb)
        return dict(zip(_KINDS, counts[rows == kb_row].sum(axis=0).tolist(), strict=True))

    def _by_row(self, kb: KnowledgeBase) -> tuple[Numbers, Numbers]:
        """Rows of the knowledge base, ascending, and their (r, 3) counts."""
        if self._key not in kb.memo:
            rows = kb.rows(list(self.ids))
            distinct, which = np.unique(rows[rows >= 0], return_inverse=True)
            counts = np.zeros((len(distinct), 3), dtype=np.int64)
            np.add.at(counts, which, self.counts[rows >= 0])
            kb.memo[self._key] = (distinct, counts)
        return kb.memo[self._key]  # type: ignore[no-any-return]

    @cached_property
    def _key(self) -> str:
        return f"track record {fingerprint(list(self.ids), self.counts.tobytes())}"

    def state(self) -> dict[str, Any]:
        """As JSON."""
        counts = dict(zip(_KINDS, self.counts.T.tolist(), strict=True))
        return {"ids": list(self.ids), **counts, "surfaces": self.surfaces.state()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "TrackRecord":
        """As saved by ``state``."""
        counts = np.array([state[kind] for kind in _KINDS], dtype=np.int64).T
        return cls(list(state["ids"]), counts, SurfaceRecord.from_state(state["surfaces"]))
