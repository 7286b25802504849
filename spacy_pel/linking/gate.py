"""Where reading the context of a mention may change its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import CandidateTable, Scores
from .nil.inputs import Floats, logistic

_LOSS = 0.001  # share of right answers that may be lost by not reading: 0.1 points
_CLOSE = 1e-4  # probabilities have finite logits


@dataclass(frozen=True)
class Gate:
    """P(another answer when the context is read), by logistic regression on what the surface form says.

    Attributes:
        weights: of 1 and of ``gate_inputs``.
        threshold: contexts with a higher probability are read.
    """

    weights: Sequence[float]
    threshold: float

    def __call__(self, table: CandidateTable, shares: Floats, nil_scores: Scores) -> NDArray[np.bool_]:
        """(n,), whether to read; see ``gate_inputs``."""
        bias, *weights = self.weights
        return logistic(gate_inputs(table, shares, nil_scores) @ np.array(weights) + bias) > self.threshold

    @classmethod
    def fit(
        cls, inputs: Floats, changes: NDArray[np.bool_], gains: NDArray[np.int64], documents: NDArray[np.int64]
    ) -> "Gate":
        """Learn from annotated mentions that were answered both ways, out of fold.

        The threshold is the highest one at which answers are right as often as if all contexts were read, less 0.1
        points: the mentions are ordered by probabilities from folds of documents.

        Args:
            inputs: (n, c), see ``gate_inputs``.
            changes: (n,), whether the answer in context is another one.
            gains: (n,), 1 where it is right and that by the form is not, -1 where it is the other way round, else 0.
            documents: (n,), their numbers.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GroupKFold, cross_val_predict

        if not changes.any():
            return cls([0.0] * (inputs.shape[1] + 1), 1.0)
        model = LogisticRegression(max_iter=2000)
        folds = GroupKFold(min(5, len(np.unique(documents))))
        probability = cross_val_predict(model, inputs, changes, groups=documents, cv=folds, method="predict_proba")[
            :, 1
        ]
        order = np.argsort(-probability, kind="stable")
        # of the first 0, 1, 2 … mentions in this order
        gained = np.concatenate([[0], np.cumsum(gains[order])])
        enough = gained >= gains.sum() - _LOSS * len(gains)
        n_read = int(np.flatnonzero(enough)[0])
        ordered = np.concatenate([[1.0], probability[order], [0.0]])
        model.fit(inputs, changes)
        weights = [float(model.intercept_[0]), *model.coef_[0].tolist()]
        return cls(weights, float((ordered[n_read] + ordered[n_read + 1]) / 2))

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"weights": list(self.weights), "threshold": self.threshold}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "Gate | None":
        """As saved by ``state``; None = an empty state, of a linker that was not calibrated."""
        return cls(state["weights"], state["threshold"]) if state else None


def gate_inputs(table: CandidateTable, shares: Floats, nil_scores: Scores) -> Floats:
    """What the surface form says of its answer.

    Args:
        table: the candidates of n mentions.
        shares: (n, k), of their scores.
        nil_scores: (n,).

    Returns:
        (n, 8): logits of the two best shares and of P(NIL); whether the form was annotated, and is a name; how many
        entities it names, as a logarithm; the entropy of the shares; and the prior of the best candidate.
    """
    features = {
        name: np.where(table.filled, table.features[name], 0.0).astype(np.float64)
        for name in ("seen", "exact", "prior")
    }
    two = np.sort(np.pad(shares, ((0, 0), (0, 1))), axis=1)[:, ::-1][:, :2]
    first = shares.argmax(axis=1)
    senses = ((features["exact"] > 0) | (features["prior"] > 0)).sum(axis=1)
    columns = [
        _logit(two[:, 0]),
        _logit(two[:, 1]),
        _logit(nil_scores.astype(np.float64)),
        features["seen"].max(axis=1),
        features["exact"].max(axis=1),
        np.log1p(senses),
        -(shares * np.log(np.maximum(shares, 1e-12))).sum(axis=1),
        features["prior"][np.arange(len(first)), first],
    ]
    return np.stack(columns, axis=1)


def _logit(probability: Floats) -> Floats:
    inside = np.clip(probability, _CLOSE, 1.0 - _CLOSE)
    return np.log(inside / (1.0 - inside))  # type: ignore[no-any-return]
