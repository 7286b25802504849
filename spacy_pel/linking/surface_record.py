"""What the surface form of a mention tells of NIL: what became of annotated mentions with the same words, and
how it is written.

Whether a knowledge base has a concept depends on its kind, and the words tell the kind: a "score", a
"protocol" or a "group" may be what it lacks, whatever stands before them.
"""

from collections import Counter
from collections import Counter as CounterType
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..types import Scores
from ..util import normalize_alias

KINDS = ("first_word", "last_word", "ending")  # of parts of a form whose mentions are counted
SHAPE = ("characters", "words", "capitals", "capital", "digits")
FEATURES = (
    *(f"{kind}_{what}" for kind in KINDS for what in ("nil", "seen")),  # log odds of NIL; log(1 + mentions)
    *SHAPE,  # how many; 1 if all letters are capitals, if the first character is one, if there is a digit
)
_ENDING = 4  # characters
# Texts, or parts of the calibration's text. What a single one has says little of other text: its concept may
# be new to the knowledge base for that text alone.
_MIN_TEXTS = 2
_ROWS = 20_000  # surface forms to remember
_PRIOR = 3.0  # mentions that the share of all mentions counts for

CountedForms = CounterType[tuple[str, bool, int]]
Counts = dict[str, tuple[int, int]]  # part of a form -> mentions, NIL ones among them


class WordRecord(NamedTuple):
    """A part of a surface form, and how many annotated mentions have it, NIL ones among them; 0 for a part
    that fewer than two texts have."""

    part: str
    mentions: int
    nil: int


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
        NIL, and the number of its text, or of the part that this belongs to."""
        counts: dict[str, Counts] = {kind: {} for kind in KINDS}
        texts: dict[str, dict[str, set[int]]] = {kind: {} for kind in KINDS}
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

    @classmethod
    def empty(cls) -> "SurfaceRecord":
        """Of no mentions."""
        return cls.of(Counter())

    def features(self, surfaces: Sequence[str]) -> dict[str, Scores]:
        """FEATURES, (n,) each, of mentions with these surface forms."""
        if len(self._rows) > _ROWS:
            self._rows.clear()
        values = np.array([self._row(surface) for surface in surfaces], dtype=np.float32)
        return dict(zip(FEATURES, values.reshape(-1, len(FEATURES)).T, strict=True))

    def of_words(self, surface: str) -> dict[str, WordRecord]:
        """Of the part of each of KINDS."""
        parts = _parts(normalize_alias(surface))
        return {kind: WordRecord(part, *self.counts[kind].get(part, (0, 0))) for kind, part in parts.items()}

    def _row(self, surface: str) -> list[float]:
        if surface in self._rows:
            return self._rows[surface]
        share = (self.total[1] + 1.0) / (self.total[0] + 2.0)
        row: list[float] = []
        for _, n, nil in self.of_words(surface).values():
            hits = nil + _PRIOR * share
            row += [float(np.log(hits / (n + _PRIOR - hits))), float(np.log1p(n))]
        letters = [letter for letter in surface if letter.isalpha()]
        capitals = bool(letters) and all(map(str.isupper, letters))
        digits = any(map(str.isdigit, surface))
        row += [len(surface), len(surface.split()), capitals, surface[:1].isupper(), digits]
        self._rows[surface] = row
        return row

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "total": list(self.total),
            **{
                kind: {
                    "parts": list(of_kind),
                    "seen": [n for n, _ in of_kind.values()],
                    "nil": [nil for _, nil in of_kind.values()],
                }
                for kind, of_kind in self.counts.items()
            },
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "SurfaceRecord":
        """As saved by ``state``."""
        counts = {
            kind: {
                part: (n, nil)
                for part, n, nil in zip(*(state[kind][key] for key in ("parts", "seen", "nil")), strict=True)
            }
            for kind in KINDS
        }
        return cls(counts, (state["total"][0], state["total"][1]))


def _parts(form: str) -> dict[str, str]:
    """The part of each of KINDS."""
    words = form.split(" ")
    return dict(zip(KINDS, (words[0], words[-1], form[-_ENDING:]), strict=True))
