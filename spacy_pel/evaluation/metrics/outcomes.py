"""What the metrics need to know about each mention."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...types import NIL, Flags, Floats
from ..prediction import Prediction


class Outcomes(NamedTuple):
    """One entry per gold mention.

    document: (n,) int64, number of its document (0, 1, ...).
    rank: (n,) int64, rank of the gold entity among the candidates; 0 = not among them.
    is_nil: (n,) bool, NIL in the corpus.
    called_nil: (n,) bool, NIL by the linker's decision.
    nil_score: (n,) float64.
    seen: (n,) bool, the gold entity occurs in the training corpus.
    correct: (n,) bool, the decision, an id or NIL, is right.
    probability: (n,) float64, P(right) of the decision; NaN = there is none.
    covered: (n,) bool, the set of answers holds a right one.
    set_size: (n,) int64, its size; 0 = there is no set.
    """

    document: NDArray[np.int64]
    rank: NDArray[np.int64]
    is_nil: Flags
    called_nil: Flags
    nil_score: Floats
    seen: Flags
    correct: Flags
    probability: Floats
    covered: Flags
    set_size: NDArray[np.int64]

    @classmethod
    def of(cls, predictions: Iterable[Prediction]) -> "Outcomes":
        """Args:
        predictions: may be a generator; the predictions are not kept.
        """
        documents: dict[str, int] = {}
        rows: list[tuple[Any, ...]] = []
        for prediction in predictions:
            document = documents.setdefault(prediction.source, len(documents))
            probability = np.nan if prediction.probability is None else prediction.probability
            decision = (prediction.kb_id == NIL, prediction.nil_score, prediction.seen, prediction.correct, probability)
            id_set = (prediction.covered, len(prediction.id_set or ()))
            rows.append((document, prediction.rank, not prediction.gold, *decision, *id_set))
        table = np.array(rows, dtype="i8, i8, ?, ?, f8, ?, ?, f8, ?, i8")
        columns: list[Any] = [np.ascontiguousarray(table[name]) for name in table.dtype.names or ()]
        return cls(*columns)
