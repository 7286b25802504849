"""NIL by the score of the best candidate alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...types import CandidateTable, Scores
from .inputs import best_scores


@registry.pel_nil("spacy-pel.ScoreThreshold.v1")
class ScoreThreshold:
    """nil_score = 1 - best score; 1 for a mention without candidates. Nothing is fitted, so
    the number is not a probability; it is compared with a threshold chosen on a dev set."""

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), higher = more likely NIL."""
        return (1.0 - best_scores(table, scores)).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None:
        """Nothing to learn."""

    def state(self) -> dict[str, Any]:
        """Empty, there is nothing to keep."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Nothing to load."""
