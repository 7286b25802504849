"""P(NIL) by logistic regression on what the candidates say together."""

from dataclasses import dataclass
from typing import Any, Dict, Optional

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..registry import registry
from ..types import CandidateTable, Scores
from .summary import Floats, best_scores, summarize, summary_names


@registry.pel_nil("spacy-pel.LogisticNil.v1")
def make_logistic_nil(l2: float = 10.0) -> "LogisticNil":
    """Build a LogisticNil.

    l2 (float): strength of the pull of the weights to 0 (1 / C of scikit-learn).
    """
    return LogisticNil(l2=l2)


@dataclass
class _Fitted:
    mean: Floats  # of the summary numbers
    scale: Floats
    weights: Floats
    bias: float


class LogisticNil:
    """Logistic regression on standardised summary numbers: the score of the best candidate,
    its margin, cosines, exact match, prior, entropy (see ``summary.py``).

    Before ``fit`` it gives 1 - best score, like ScoreThreshold; afterwards P(NIL).
    A mention without candidates has P(NIL) = 1. Products and splines of the numbers, and trees, fitted a
    development set better and ranked other text worse: a development set has few documents.
    """

    def __init__(self, *, l2: float = 10.0):
        self.l2 = l2
        self._fitted: Optional[_Fitted] = None

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """RETURNS (Scores): (n,), P(NIL) of each mention."""
        best, filled = best_scores(table, scores)
        if self._fitted is None:
            return np.where(filled, 1.0 - best, 1.0).astype(np.float32)
        inputs = _inputs(summarize(table, scores), self._fitted.mean, self._fitted.scale)
        logits = inputs @ self._fitted.weights + self._fitted.bias
        probability = 0.5 * (1.0 + np.tanh(0.5 * logits))  # the logistic function without overflow
        return np.where(filled, probability, 1.0).astype(np.float32)

    def fit(self, table: CandidateTable, scores: Scores, is_nil: NDArray[np.bool_]) -> None:
        """Learn from mentions that have candidates; the others are NIL by rule.

        is_nil (NDArray[np.bool_]): (n,), True where the gold entity is not in the KB.
        RAISES (PelError): if the mentions are not of both kinds.
        """
        from sklearn.linear_model import LogisticRegression

        _, filled = best_scores(table, scores)
        n_nil = int(is_nil[filled].sum())
        if n_nil in (0, int(filled.sum())):
            raise PelError(Errors.E610.format(n_nil=n_nil, n=int(filled.sum())))
        summary = summarize(table, scores)[filled]
        mean = summary.mean(axis=0)
        scale = np.where(summary.std(axis=0) > 1e-9, summary.std(axis=0), 1.0)
        model = LogisticRegression(C=1.0 / self.l2, max_iter=2000)
        model.fit(_inputs(summary, mean, scale), is_nil[filled])
        self._fitted = _Fitted(mean, scale, model.coef_[0].astype(np.float64), float(model.intercept_[0]))

    def state(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): mean, scale, weights and bias; empty before ``fit``."""
        if self._fitted is None:
            return {}
        return {
            "columns": summary_names(),
            "mean": self._fitted.mean.tolist(),
            "scale": self._fitted.scale.tolist(),
            "weights": self._fitted.weights.tolist(),
            "bias": self._fitted.bias,
        }

    def load_state(self, state: Dict[str, Any]) -> None:
        """Take over what another LogisticNil learned.

        RAISES (PelError): if it was learned from an unknown summary number. One that came later
            has weight 0.
        """
        if not state:
            self._fitted = None
            return
        names, known = summary_names(), state.get("columns") or ["?"]
        if not set(known) <= set(names):
            raise PelError(Errors.E611.format(came=known, expected=names))
        mean, scale, weights = np.zeros(len(names)), np.ones(len(names)), np.zeros(len(names))
        places = [names.index(name) for name in known]
        mean[places], scale[places], weights[places] = state["mean"], state["scale"], state["weights"]
        self._fitted = _Fitted(mean, scale, weights, float(state["bias"]))


def _inputs(summary: Floats, mean: Floats, scale: Floats) -> Floats:
    return np.clip((summary - mean) / scale, -5.0, 5.0)  # far from what was seen, stop counting
