"""The few numbers about each mention that all metrics are made of."""

from typing import Any, Dict, Iterable, List, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...types import NIL
from ..prediction import Prediction


class Outcomes(NamedTuple):
    """One entry per gold mention.

    document: (n,) int64, which document it stands in (0, 1, ...).
    rank: (n,) int64, where the gold entity stands among the candidates, 0 = not there.
    is_nil: (n,) bool, gold.
    called_nil: (n,) bool, the linker's decision.
    nil_score: (n,) float64.
    seen: (n,) bool, the gold entity occurs in the training corpus.
    correct: (n,) bool, the decision, "NIL" included, is right.
    """

    document: NDArray[np.int64]
    rank: NDArray[np.int64]
    is_nil: NDArray[np.bool_]
    called_nil: NDArray[np.bool_]
    nil_score: NDArray[np.float64]
    seen: NDArray[np.bool_]
    correct: NDArray[np.bool_]

    @classmethod
    def of(cls, predictions: Iterable[Prediction]) -> "Outcomes":
        """predictions (Iterable[Prediction]): may be a generator; nothing of it is kept."""
        documents: Dict[str, int] = {}
        rows: List[tuple] = []
        for prediction in predictions:
            rows.append(
                (
                    documents.setdefault(prediction.doc, len(documents)),
                    prediction.rank,
                    not prediction.gold,
                    prediction.kb_id == NIL,
                    prediction.nil_score,
                    prediction.seen,
                    prediction.correct,
                )
            )
        kinds = (np.int64, np.int64, np.bool_, np.bool_, np.float64, np.bool_, np.bool_)
        columns: List[Any] = [
            np.asarray([row[position] for row in rows], dtype=kind) for position, kind in enumerate(kinds)
        ]
        return cls(*columns)
