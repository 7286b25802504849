"""P(NIL) before any calibration: weights fitted on several ontologies.

Their inputs are those of the first candidate, by the combiner's score. They need no annotated text, and one
set of weights serves several encoders (``research default-nil`` fits and measures them):

input    | what it is                                        | why
---------|---------------------------------------------------|-----------------------------------------------
exact    | 1 if the mention is one of its names, its formula | a name is a name
         | or a variant of one, or derived from one, or else |
         | its share of the form's mentions in annotated     |
         | text                                              |
edit     | spelling: similarity to its nearest name          | variants, typing errors
partial  | the same for the best stretch                     | a name inside a longer mention, or around it
distance | (1 - its cosine) / (1 - the cosine of an          | synonyms; how similar unrelated texts are, and
         | unrelated entity)                                 | so the cosine itself, differs by encoder

The 65th nearest candidate counts as unrelated. Where there are fewer than 128, it is the one in the middle,
and where there are fewer than 9, an entity with a cosine of 0.
"""

from collections.abc import Mapping

import numpy as np

from ...candidates.evidence.evidence import NAMED, best_cosines
from ...registry import registry
from ...types import CandidateTable, Scores
from ...util.ragged import segment_order
from .best_scores import Floats, logistic
from .logistic import LogisticNil

WITH_VECTORS = {"exact": -3.43, "edit": -1.13, "partial": -2.5, "distance": 4.87, "bias": -0.22}
# scores of other generators have no common scale
WITHOUT_VECTORS = {"exact": -4.02, "edit": -2.97, "partial": -2.73, "bias": 3.85}
_FEATURES = ("name", "mention", "vote", *NAMED, "prior", "edit", "partial")
_RANK, _LEAST = 64, 8  # of the unrelated candidate, from 0
_CLOSE = 1e-3  # least distance of an unrelated entity


@registry.pel_nil("spacy-pel.LogisticNil.v2")
class PretrainedLogisticNil(LogisticNil):
    """As LogisticNil.v1, which it equals after ``fit``; but before ``fit`` it gives P(NIL) as well, from
    default weights. So a pipeline without annotated text can tell NIL: it gives the more probable answer.

    The default weights are those of a logistic regression over six ontologies, where a third of the mentions
    was NIL; docs/studies.md says what they find and lose on ontologies that were left out. Candidates of
    generators without vectors are judged by exact match and spelling alone.

    Attributes:
        l2: strength of the L2 penalty on the fitted weights (1 / C in scikit-learn).
        directions: how many principal directions of the mentions' vectors are inputs of ``fit``; 0 = none.
    """

    is_probability = True

    def __call__(self, table: CandidateTable, scores: Scores) -> Scores:
        """(n,), P(NIL) of each mention.

        Raises:
            PelError: if it was fitted on vectors of another width, or there are none.
        """
        if self._fitted is not None:
            return super().__call__(table, scores)
        weights = WITHOUT_VECTORS if table.vectors is None else WITH_VECTORS
        filled = np.diff(table.offsets) > 0
        return np.where(filled, default_probability(default_inputs(table, scores), weights), 1.0).astype(np.float32)


def default_inputs(table: CandidateTable, scores: Scores) -> dict[str, Floats]:
    """The inputs of the default weights.

    Args:
        table: the candidates of n mentions; a feature that it lacks counts as 0.
        scores: (m,), the combiner's.

    Returns:
        (n,) each, by name; zeros where there is no candidate.
    """
    counts = np.diff(table.offsets)
    filled = counts > 0
    absent = np.zeros(len(table.kb_rows), dtype=np.float32)
    features = {name: table.features.get(name, absent) for name in _FEATURES}
    columns = np.zeros((4, len(counts)))
    if filled.any():
        starts = table.offsets[:-1][filled]
        first = segment_order(scores, table.offsets)[starts]
        cosines = np.clip(best_cosines(features), -1.0, 1.0)
        # the candidates by cosine, to find the unrelated one
        ranked = cosines[segment_order(cosines, table.offsets)]
        rank = np.clip(counts[filled] // 2, _LEAST, _RANK)
        is_there = rank < counts[filled]
        unrelated = np.where(is_there, ranked[np.where(is_there, starts + rank, 0)], 0.0)
        columns[:, filled] = [
            np.max([features[name][first] for name in (*NAMED, "prior")], axis=0),
            features["edit"][first],
            features["partial"][first],
            (1.0 - cosines[first].astype(np.float64)) / np.maximum(1.0 - unrelated, _CLOSE),
        ]
    return dict(zip(("exact", "edit", "partial", "distance"), columns, strict=True))


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
