"""P(NIL) by isotonic regression."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...types import CandidateTable, NilModel, Scores
from .best_scores import Floats
from .calibrated import fit_base, load_base, raw_scores, with_base

_TIES = 1e-3  # of P(NIL), which separates mentions on one step


@registry.pel_nil("spacy-pel.IsotonicNil.v1")
class IsotonicNil:
    """P(NIL) as the rising step function of another NIL model's number x that fits a development
    set best (pool adjacent violators; Zadrozny and Elkan 2002). It can take any rising shape, so it needs
    more mentions than a sigmoid: a few hundred NIL ones.

    No threshold could separate mentions on one step. So P(NIL) rises by a thousandth from
    the lowest to the highest x, in equal parts from point to point. Before ``fit`` it gives x itself.
    A mention without candidates has P(NIL) = 1.

    The base is fitted on the same mentions as the steps: it should have few weights.

    Args:
        base: the NIL model whose numbers are calibrated. None = 1 - best score.
    """

    def __init__(self, *, base: NilModel | None = None):
        self.base = base
        self._fitted: tuple[Floats, Floats] | None = None  # points: x, and P(NIL) there

    @property
    def record(self) -> Any:
        """The base's; None = it reads none."""
        return getattr(self.base, "record", None)

    @record.setter
    def record(self, record: Any) -> None:
        self.base.record = record  # type: ignore[union-attr]

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), P(NIL) of each mention."""
        raw, filled = raw_scores(table, scores, self.base)
        if self._fitted is not None:
            at, probability = self._fitted
            order = np.interp(raw, at, np.linspace(0.0, 1.0, len(at)))
            raw = (1.0 - _TIES) * np.interp(raw, at, probability) + _TIES * order
        return np.where(filled, raw, 1.0).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None:
        """Learn from mentions that have candidates.

        Args:
            is_nil: (n,), True where the gold entity is not in the KB.

        Raises:
            PelError: if the mentions are not of both kinds.
        """
        from sklearn.isotonic import IsotonicRegression

        raw, truth = fit_base(table, scores, is_nil, self.base)
        steps = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        steps.fit(raw, truth.astype(np.float64))
        self._fitted = (steps.X_thresholds_.astype(np.float64), steps.y_thresholds_.astype(np.float64))

    def state(self) -> dict[str, Any]:
        """The points, and the base's state; empty before ``fit``."""
        if self._fitted is None:
            return {}
        at, probability = self._fitted
        return with_base({"at": at.tolist(), "probability": probability.tolist()}, self.base)

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the state of another IsotonicNil.

        Raises:
            PelError: if the state belongs to another kind of model, or was fitted with another base.
        """
        if not state:
            self._fitted = None
            return
        load_base(self, state, ["at", "probability"], self.base)
        self._fitted = (np.asarray(state["at"], np.float64), np.asarray(state["probability"], np.float64))
