"""P(NIL) by logistic regression; before any calibration, with weights fitted on several ontologies.

The inputs of the default weights are those of the first candidate, by the combiner's score. They need no
annotated text, and one set of weights serves several encoders (``research default-nil`` fits and measures them):

input    | what it is                                        | why
---------|---------------------------------------------------|-----------------------------------------------
exact    | 1 if the mention is one of its names, its formula | a name is a name
         | or a variant of one, or derived from one, or else |
         | its share of the form's mentions in annotated     |
         | text                                              |
edit     | spelling: similarity to its nearest name          | variants, typing errors
distance | (1 - its cosine) / (1 - the cosine of an          | synonyms; how similar unrelated texts are, and
         | unrelated entity)                                 | so the cosine itself, differs by encoder

The 65th nearest entity counts as unrelated, see ``evidence.unrelated_cosines``.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...candidates.evidence import NAMED, best_cosines
from ...registry import registry
from ...types import UNRELATED, CandidateTable, Scores
from .inputs import Floats, NilInputs, logistic, of_first

WITH_VECTORS = {"exact": -3.4, "edit": -1.91, "distance": 4.87, "bias": -1.97}
# scores of other generators have no common scale
WITHOUT_VECTORS = {"exact": -3.98, "edit": -3.83, "bias": 1.94}
_FEATURES = ("name", "mention", "vote", *NAMED, "prior", "edit")
_MIN_DISTANCE = 1e-3  # of an unrelated entity


@registry.pel_nil("spacy-pel.LogisticNil.v1")
class LogisticNil:
    """Logistic regression on standardised summary numbers: the score of the best candidate,
    its margin, cosines, exact match, prior, entropy (see ``summarize``), and on the mention's
    vector along its principal directions.

    A knowledge base lacks some kinds of concepts more than others (an open one has diseases, but
    few drugs), and the vector reveals the kind: on MedMentions' held-out documents 16 directions lift
    the average precision from 0.54 to 0.60.

    Before ``fit`` it gives P(NIL) by default weights, so that a pipeline without annotated text gives the more
    probable answer. They are those of a logistic regression over six ontologies, where a third of the mentions was
    NIL; docs/studies/default-nil.md says what they find and lose on ontologies left out. Candidates of generators
    without vectors are judged by exact match and spelling alone.

    A mention without candidates has P(NIL) = 1. Products and splines of the summary numbers fitted a
    development set better and ranked other text worse: a development set has few documents. With ten
    times the text, ``NetworkNil`` is better.

    Args:
        l2: strength of the L2 penalty on the fitted weights (1 / C in scikit-learn).
        directions: how many principal directions of the mentions' vectors are inputs of ``fit``; 0 = none.
    """

    is_probability = True

    def __init__(self, *, l2: float = 10.0, directions: int = 16):
        self.l2 = l2
        self.directions = directions
        self._inputs: NilInputs | None = None
        self._weights: Floats = np.zeros(0)  # of the inputs
        self._bias = 0.0

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), P(NIL) of each mention.

        Raises:
            PelError: if it was fitted on vectors of another width, or there are none.
        """
        if self._inputs is None:
            weights = WITHOUT_VECTORS if table.vectors is None else WITH_VECTORS
            probability = default_probability(default_inputs(table, scores), weights)
        else:
            probability = logistic(self._inputs(table, scores) @ self._weights + self._bias)
        return np.where(table.has_candidates, probability, 1.0).astype(np.float32)

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
        self._inputs, self._weights = inputs, model.coef_[0].astype(np.float64)
        self._bias = float(model.intercept_[0])

    def state(self) -> dict[str, Any]:
        """Mean, scale, weights, bias and directions; empty before ``fit``."""
        if self._inputs is None:
            return {}
        return {**self._inputs.state(), "weights": self._weights.tolist(), "bias": self._bias}

    def load_state(self, state: dict[str, Any]) -> None:
        """Load the state of another LogisticNil; an empty state gives the default weights.

        Raises:
            PelError: if it was learned from other inputs.
        """
        self._inputs = NilInputs.from_state(state) if state else None
        if state:
            self._weights, self._bias = np.asarray(state["weights"], np.float64), float(state["bias"])


def default_inputs(table: CandidateTable, scores: Scores) -> dict[str, Floats]:
    """The inputs of the default weights.

    Args:
        table: the candidates of n mentions; a feature that it lacks counts as 0.
        scores: (n, k), the combiner's.

    Returns:
        (n,) each, by name; zeros where there is no candidate.
    """
    absent = np.zeros(table.kb_rows.shape, dtype=np.float32)
    features = {name: table.features.get(name, absent) for name in _FEATURES}
    cosines = np.clip(best_cosines(features), -1.0, 1.0)
    unrelated = table.of_mentions.get(UNRELATED, np.zeros(len(table), dtype=np.float32))
    first = of_first(cosines, scores).astype(np.float64)
    inputs = {
        "exact": of_first(np.max([features[name] for name in (*NAMED, "prior")], axis=0), scores),
        "edit": of_first(features["edit"], scores),
        "distance": (1.0 - first) / np.maximum(1.0 - unrelated, _MIN_DISTANCE),
    }
    return {name: np.where(table.has_candidates, values, 0.0).astype(np.float64) for name, values in inputs.items()}


def default_probability(inputs: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """P(NIL) of mentions that have candidates.

    Args:
        inputs: (n,) each; those without a weight are not used.
        weights: of inputs, and "bias".

    Returns:
        (n,)
    """
    logits = weights["bias"] + sum(weights[name] * inputs[name] for name in weights if name != "bias")
    return logistic(np.asarray(logits))
