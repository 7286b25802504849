"""A weighted sum of what speaks for a candidate, with weights fitted on a dev set."""

from typing import Any, Dict, List, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..registry import registry
from ..types import CandidateTable, Scores
from ..util import logger
from ..util.ragged import owners, segment_softmax, segment_sum
from .linear_features import DEFAULT_WEIGHTS, columns

Floats = NDArray[np.float64]


@registry.pel_combiners("spacy-pel.LinearCombiner.v1")
def make_linear_combiner(l2: float = 1e-4) -> "LinearCombiner":
    """Build a LinearCombiner.

    l2 (float): strength of the pull of the weights of standardised columns to 0.
    """
    return LinearCombiner(l2=l2)


class LinearCombiner:
    """score = softmax over the candidates of a mention of the weighted sum of ``columns``.

    The weights are those of a conditional logit: they maximise the probability of the gold
    entities among the candidates. Before ``fit`` they are DEFAULT_WEIGHTS.
    """

    def __init__(self, *, l2: float = 1e-4):
        self.l2 = l2
        self.weights: Dict[str, float] = dict(DEFAULT_WEIGHTS)

    def __call__(self, table: CandidateTable) -> Scores:
        """RETURNS (Scores): (m,) probabilities; those of a mention's candidates sum to 1."""
        logits = np.zeros(len(table.kb_rows))
        for name, values in columns(table).items():
            logits += self.weights[name] * values
        return segment_softmax(logits, table.offsets).astype(np.float32)

    def fit(self, table: CandidateTable, gold: Sequence[NDArray[np.int64]]) -> None:
        """Learn the weights. A mention without a gold entity among its candidates is left out.

        table (CandidateTable): the candidates of n mentions.
        gold (Sequence[NDArray[int64]]): for each mention the KB rows of its entity; any of them
            is right.
        RAISES (PelError): if no mention is left.
        """
        from scipy.optimize import minimize

        right = is_gold(table, gold)
        used = segment_sum(right, table.offsets)[owners(table.offsets)] > 0
        if not used.any():
            raise PelError(Errors.E420.format(n=len(table)))
        named = columns(table)
        matrix = np.stack([values[used] for values in named.values()], axis=1)
        scale = matrix.std(axis=0)
        matrix = np.divide(matrix, scale, out=np.zeros_like(matrix), where=scale > 1e-9)
        counts = np.diff(table.offsets)
        kept = counts[segment_sum(right, table.offsets) > 0]
        problem = ConditionalLogit(matrix, kept, right[used], self.l2)
        start = np.array([self.weights[name] for name in named]) * scale
        result = minimize(problem, start, jac=True, method="L-BFGS-B", options={"maxiter": 500})
        logger.info("Combiner: mean loss %.4f on %d mentions", result.fun, len(kept))
        raw = np.divide(result.x, scale, out=np.zeros_like(scale), where=scale > 1e-9)
        self.weights = dict(zip(named, raw.tolist(), strict=True))

    def state(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): the weights by column."""
        return {"weights": dict(self.weights)}

    def load_state(self, state: Dict[str, Any]) -> None:
        """Take over what another LinearCombiner learned; an empty state gives the defaults.

        RAISES (PelError): if a weight is for an unknown column. A column that came later has weight 0.
        """
        weights = state.get("weights", DEFAULT_WEIGHTS)
        if not set(weights) <= set(DEFAULT_WEIGHTS):
            raise PelError(Errors.E421.format(expected=list(DEFAULT_WEIGHTS), came=list(weights)))
        self.weights = {name: float(weights.get(name, 0.0)) for name in DEFAULT_WEIGHTS}


class ConditionalLogit:
    """Mean of -log P(gold) over mentions, plus l2 / 2 |w|²; with its gradient."""

    def __init__(self, matrix: Floats, counts: NDArray[np.int64], right: NDArray[np.bool_], l2: float):
        self.matrix, self.right, self.l2 = matrix, right, l2
        self.n = len(counts)
        self.offsets = np.concatenate([[0], np.cumsum(counts)])
        self.gold_offsets = np.concatenate([[0], np.cumsum(segment_sum(right, self.offsets))]).astype(
            np.int64
        )

    def __call__(self, weights: Floats) -> Any:
        logits = self.matrix @ weights
        share = segment_softmax(logits, self.offsets)
        gold_share = np.zeros(len(share))  # among the right candidates only
        gold_share[self.right] = segment_softmax(logits[self.right], self.gold_offsets)
        probability = segment_sum(np.where(self.right, share, 0.0), self.offsets)
        loss = -np.log(np.maximum(probability, 1e-300)).sum() / self.n
        gradient = self.matrix.T @ (share - gold_share) / self.n
        return loss + 0.5 * self.l2 * weights @ weights, gradient + self.l2 * weights


def is_gold(table: CandidateTable, gold: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """RETURNS (NDArray[bool]): (m,) is the candidate one of the gold entities of its mention?"""
    size = 1 + max([-1, *(int(rows.max()) for rows in gold if len(rows))], default=0)
    size = max(size, int(table.kb_rows.max(initial=-1)) + 1)
    keys: List[NDArray[np.int64]] = [np.asarray(rows) + i * size for i, rows in enumerate(gold) if len(rows)]
    wanted = np.concatenate([np.empty(0, np.int64), *keys])
    return np.isin(owners(table.offsets) * size + table.kb_rows, wanted)
