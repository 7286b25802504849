"""The arrays that the parts of a linker exchange."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..util.ragged import owners
from .texts import Entity, MentionInText

NIL = "NIL"  # the id of a mention whose concept the knowledge base lacks

# features of a CandidateTable beside those of the evidence
FUSED = "fused"  # the fused ranks of several generators
LABEL_TYPE = "label_type"  # P(type of the entity | label of the mention), see ``linking/label_types.py``
TOPIC = "topic"  # P(entity | text), from annotated texts near the mention's, see ``index/annotated_text.py``

Vectors = NDArray[np.float32]  # (n, width)
Scores = NDArray[np.float32]
Rows = NDArray[np.int64]


@dataclass
class CandidateTable:
    """Evidence for the candidates of n mentions, ragged: candidate j belongs to the
    mention i with ``offsets[i] <= j < offsets[i + 1]``. A combiner turns ``features``
    into scores, a NIL model into P(NIL).

    Attributes:
        kb_rows: (m,) int64, rows of the knowledge base.
        offsets: (n + 1,) int64.
        features: name -> (m,) float32; names in ``FEATURES`` of ``evidence/evidence.py``, FUSED where
            several generators found the candidates, LABEL_TYPE and TOPIC where these are known.
        vectors: (n, width) of the mentions, where they are known.
        of_mentions: name -> (n,) float32, what is known of the mentions themselves; see ``SurfaceRecord``.
    """

    kb_rows: Rows
    offsets: Rows
    features: dict[str, Scores]
    vectors: Vectors | None = None
    of_mentions: dict[str, Scores] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.offsets) - 1


class RankedRows(NamedTuple):
    """Entities found for n mentions, ragged: the pairs of mention i are ``offsets[i]:offsets[i + 1]``,
    best first, each entity once.

    Attributes:
        kb_rows: (m,) int64, rows of the knowledge base.
        scores: (m,) float32, the higher the better; comparable within a mention.
        offsets: (n + 1,) int64.
    """

    kb_rows: Rows
    scores: Scores
    offsets: Rows


@dataclass
class RankingTask:
    """Candidates of n mentions, ragged, that a ranker reads together with their mentions.

    Attributes:
        mentions: (n,).
        entities: each distinct candidate once.
        rows: (m,) int64, which of the entities candidate j is.
        offsets: (n + 1,) int64, candidate j belongs to the mention i with ``offsets[i] <= j < offsets[i + 1]``.
    """

    mentions: Sequence[MentionInText]
    entities: Sequence[Entity]
    rows: Rows
    offsets: Rows

    @property
    def owners(self) -> Rows:
        """(m,) the mention of each candidate."""
        return owners(self.offsets)
