"""Risk and coverage: how many answers can be kept at a given accuracy (El-Yaniv and Wiener 2010)."""

from typing import NamedTuple

import numpy as np

from .bootstrap import Numbers, document_draws, percentiles
from .outcomes import Flags, Floats

ACCURACIES = (95, 98)  # percent
_TOLERANCE = 1e-9  # of a share that is computed as a sum


class RiskCurve(NamedTuple):
    """A point per distinct P(right), highest first.

    coverage: (m,), share of all mentions whose answer has at least this P(right).
    accuracy: (m,), share of these answers that are right.
    """

    coverage: Floats
    accuracy: Floats


class RankedAnswers:
    """Answers from the most certain down, sorted once for all samples of a bootstrap.

    Args:
        probability: (n,), P(right); NaN = no answer.
        right: (n,), 1 or True = the answer is right; P(right) itself gives what is to be expected.
    """

    def __init__(self, probability: Floats, right: Flags | Floats):
        self._order = np.argsort(-probability, kind="stable")  # NaN last
        ranked = probability[self._order]
        is_answer = ~np.isnan(ranked)
        self._right = np.where(is_answer, right[self._order], 0.0)
        # equal probabilities are kept or dropped together
        is_last = np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)]
        self._last = np.flatnonzero(is_last & is_answer)

    def __bool__(self) -> bool:
        """Whether there is any answer."""
        return len(self._last) > 0

    def curve(self, weights: Floats | None = None) -> RiskCurve:
        """Args:
        weights: (n,), e.g. how often a bootstrap sample drew each mention.
        """
        weight = np.ones(len(self._order)) if weights is None else weights[self._order]
        kept, hits = np.cumsum(weight), np.cumsum(weight * self._right)
        n = max(kept[-1], 1e-12) if len(kept) else 1.0
        kept, hits = kept[self._last], hits[self._last]
        return RiskCurve(kept / n, hits / np.maximum(kept, 1e-12))

    def coverage_at(self, accuracy: float, weights: Floats | None = None) -> float:
        """The largest share of the mentions that, taken from the most certain answer down, reaches an accuracy.

        The largest, not the first: that the one most certain answer is wrong does not make it 0, and that a few are
        right by chance is not enough.

        Returns:
            0 if no share reaches it.
        """
        curve = self.curve(weights)
        reached = curve.coverage[curve.accuracy >= accuracy - _TOLERANCE]
        return float(reached[-1]) if len(reached) else 0.0

    def area(self) -> float:
        """Area under the curve of risk, the share of wrong answers, over coverage. Mentions without an answer come last
        and count as wrong, as in ``accuracy``."""
        curve = self.curve()
        n_answers = curve.coverage[-1]
        area = np.sum(np.diff(curve.coverage, prepend=0.0) * (1.0 - curve.accuracy))
        return float(area + (1.0 - n_answers) * (1.0 - n_answers * curve.accuracy[-1]))


def coverages(answers: RankedAnswers) -> dict[str, float | None]:
    """ "coverage@95" and "coverage@98", see ``RankedAnswers.coverage_at``; None if there is no answer."""
    return {key: answers.coverage_at(share) if answers else None for key, share in _keys().items()}


def coverage_intervals(
    answers: RankedAnswers, document: Numbers, *, n_samples: int, rng: np.random.Generator
) -> dict[str, float | None]:
    """The 95% bootstrap intervals of ``coverages``, by "coverage@95_low" and so on.

    Args:
        answers: of n mentions.
        document: (n,), the document of each mention.
        n_samples: bootstrap samples.
        rng: makes the draws.
    """
    keys = _keys()
    if not answers:
        return {f"{key}_{end}": None for key in keys for end in ("low", "high")}
    numbers = np.unique(document, return_inverse=True)[1]
    draws = (draw for block in document_draws(int(numbers.max()) + 1, n_samples, rng) for draw in block)
    samples = np.array([[answers.coverage_at(share, draw[numbers]) for share in keys.values()] for draw in draws])
    intervals = {key: percentiles(samples[:, column]) for column, key in enumerate(keys)}
    return {f"{key}_{end}": pair[i] for key, pair in intervals.items() for i, end in enumerate(("low", "high"))}


def _keys() -> dict[str, float]:
    return {f"coverage@{percent}": percent / 100 for percent in ACCURACIES}
