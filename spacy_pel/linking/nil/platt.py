"""P(NIL) by Platt's sigmoid."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...types import CandidateTable, NilModel, Scores
from .best_scores import logistic
from .calibrated import fit_base, load_base, raw_scores, with_base


@registry.pel_nil("spacy-pel.PlattNil.v1")
class PlattNil:
    """P(NIL) = 1 / (1 + exp(-(slope * x + intercept))), where x is the number of another NIL model
    (Platt 1999, "Probabilistic outputs for support vector machines").

    The two numbers maximise the likelihood of Platt's softened targets, (n+ + 1) / (n+ + 2) for the
    n+ NIL mentions and 1 / (n- + 2) for the n- others, so that few mentions do not give certainty.
    The order of the mentions stays that of x. Before ``fit`` it gives x itself. A mention
    without candidates has P(NIL) = 1.

    The base is fitted on the same mentions as the sigmoid: it should have few weights.

    Args:
        base: the NIL model whose numbers are calibrated. None = 1 - best score.
    """

    def __init__(self, *, base: NilModel | None = None):
        self.base = base
        self._fitted: tuple[float, float] | None = None  # slope, intercept

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
            slope, intercept = self._fitted
            raw = logistic(slope * raw + intercept)
        return np.where(filled, raw, 1.0).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None:
        """Learn from mentions that have candidates.

        Args:
            is_nil: (n,), True where the gold entity is not in the KB.

        Raises:
            PelError: if the mentions are not of both kinds.
        """
        from sklearn.linear_model import LogisticRegression

        raw, truth = fit_base(table, scores, is_nil, self.base)
        n_nil, n_other = int(truth.sum()), int((~truth).sum())
        target = np.where(truth, (n_nil + 1) / (n_nil + 2), 1 / (n_other + 2))
        mean, scale = float(raw.mean()), float(raw.std()) or 1.0
        inputs = ((raw - mean) / scale)[:, None]
        # a softened target = the mention twice: as NIL with this weight, as not NIL with the rest
        model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
        model.fit(
            np.concatenate([inputs, inputs]),
            np.repeat([1, 0], len(raw)),
            sample_weight=np.concatenate([target, 1 - target]),
        )
        slope = float(model.coef_[0, 0]) / scale
        self._fitted = (slope, float(model.intercept_[0]) - slope * mean)

    def state(self) -> dict[str, Any]:
        """Slope and intercept, and the base's state; empty before ``fit``."""
        if self._fitted is None:
            return {}
        return with_base({"slope": self._fitted[0], "intercept": self._fitted[1]}, self.base)

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the state of another PlattNil.

        Raises:
            PelError: if the state belongs to another kind of model, or was fitted with another base.
        """
        if not state:
            self._fitted = None
            return
        load_base(self, state, ["slope", "intercept"], self.base)
        self._fitted = (float(state["slope"]), float(state["intercept"]))
