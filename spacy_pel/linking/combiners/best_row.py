"""Scores an entity by its best row, or by its fused score if it was found by an ensemble."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...types import FUSED, CandidateTable, Scores


@registry.pel_combiners("spacy-pel.BestRow.v1")
class BestRow:
    """score = the best cosine over all rows of the entity (+ the bonus); among the candidates of an ensemble,
    which need not have a row, the fused score. Nothing is fitted.

    Args:
        exact_bonus: added to the score where the mention is a name of the entity.
    """

    is_probability = False

    def __init__(self, *, exact_bonus: float = 0.0):
        self.exact_bonus = exact_bonus

    def __call__(self, table: CandidateTable) -> Scores:
        """(n, k), -inf where there is no candidate."""
        cosine, exact = self.contributions(table).values()
        return np.where(table.filled, cosine + exact, -np.inf).astype(np.float32)

    def contributions(self, table: CandidateTable) -> dict[str, Scores]:
        """(n, k) each, what a feature adds to the scores of the candidates."""
        is_fused = FUSED in table.features
        return {
            FUSED if is_fused else "best": table.features[FUSED] if is_fused else table.cosines,
            "exact": self.exact_bonus * table.features["exact"],
        }

    def fit(self, table: CandidateTable, gold: Sequence[NDArray[np.int64]]) -> None:
        """Nothing to learn."""

    def state(self) -> dict[str, Any]:
        """Empty, there is nothing to keep."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """Nothing to load."""
