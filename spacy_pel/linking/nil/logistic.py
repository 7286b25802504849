"""P(NIL) by logistic regression on a summary of the candidates and on the mention's vector."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...registry import registry
from ...types import CandidateTable, Scores
from .best_scores import Floats, best_scores, logistic
from .inputs import NilInputs


@dataclass
class _Fitted:
    inputs: NilInputs
    weights: Floats  # of the inputs
    bias: float


@registry.pel_nil("spacy-pel.LogisticNil.v1")
class LogisticNil:
    """Logistic regression on standardised summary numbers: the score of the best candidate,
    its margin, cosines, exact match, prior, entropy (see ``summarize``), and on the mention's
    vector along its principal directions.

    A knowledge base lacks some kinds of concepts more than others (an open one has diseases, but
    few drugs), and the vector reveals the kind: on MedMentions' held-out documents 16 directions lift
    the average precision from 0.54 to 0.60.

    Before ``fit`` it gives 1 - best score, like ScoreThreshold; afterwards P(NIL).
    A mention without candidates has P(NIL) = 1. Products and splines of the summary numbers fitted a
    development set better and ranked other text worse: a development set has few documents. With ten
    times the text, ``NetworkNil`` is better.

    Args:
        l2: strength of the L2 penalty on the weights (1 / C in scikit-learn).
        directions: how many principal directions of the mentions' vectors are inputs; 0 = none.
    """

    def __init__(self, *, l2: float = 10.0, directions: int = 16):
        self.l2 = l2
        self.directions = directions
        self._fitted: _Fitted | None = None

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), P(NIL) of each mention.

        Raises:
            PelError: if it was fitted on vectors of another width, or there are none.
        """
        best, filled = best_scores(table, scores)
        if self._fitted is None:
            return np.where(filled, 1.0 - best, 1.0).astype(np.float32)
        logits = self._fitted.inputs(table, scores) @ self._fitted.weights + self._fitted.bias
        return np.where(filled, logistic(logits), 1.0).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None:
        """Learn from mentions that have candidates; the others are NIL by rule.

        Args:
            is_nil: (n,), True where the gold entity is not in the KB.

        Raises:
            PelError: if the mentions are not of both kinds.
        """
        from sklearn.linear_model import LogisticRegression

        inputs, values, truth = NilInputs.fit(table, scores, is_nil, directions=self.directions)
        model = LogisticRegression(C=1.0 / self.l2, max_iter=2000).fit(values, truth)
        self._fitted = _Fitted(inputs, model.coef_[0].astype(np.float64), float(model.intercept_[0]))

    def state(self) -> dict[str, Any]:
        """Mean, scale, weights, bias and directions; empty before ``fit``."""
        if self._fitted is None:
            return {}
        return {**self._fitted.inputs.state(), "weights": self._fitted.weights.tolist(), "bias": self._fitted.bias}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the state of another LogisticNil.

        Raises:
            PelError: if it was learned from an unknown summary number. One that was added
                later has weight 0.
        """
        if not state:
            self._fitted = None
            return
        inputs, places = NilInputs.from_state(state)
        weights = np.zeros(len(inputs.columns))
        weights[places] = state["weights"]
        self._fitted = _Fitted(inputs, weights, float(state["bias"]))
