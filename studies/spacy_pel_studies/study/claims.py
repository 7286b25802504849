"""Tests of a paper's claims, and comparisons of every two settings of a study, by a paired bootstrap."""

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.evaluation.metrics.all_metrics import average_precision
from spacy_pel.evaluation.metrics.bootstrap import Difference, metric_difference
from spacy_pel.evaluation.outcomes import Outcomes
from spacy_pel.training.report.compare import mcnemar

from .plan import ClaimSettings

Floats = NDArray[np.float64]
Metric = Callable[[Outcomes, Floats], float]
Cells = dict[str, list[Outcomes]]  # "Pb random plain" -> one for each seed
_CLAIM_SAMPLES = 400
_PAIR_SAMPLES = 1000


class Claim(NamedTuple):
    """A claim and its test on the runs.

    Attributes:
        text: the claim.
        difference: b - a; the claim holds if its interval is above 0.
    """

    text: str
    difference: Difference

    @property
    def verdict(self) -> str:
        """ "holds", "does not hold" or "open"."""
        if self.difference.low > 0:
            return "holds"
        return "does not hold" if self.difference.high < 0 else "open"


class Comparison(NamedTuple):
    """Two settings on the same mentions.

    Attributes:
        a, b: their labels.
        difference: of recall@1, b - a; means over the seeds.
        test: of the runs with the first seed.
    """

    a: str
    b: str
    difference: Difference
    test: dict[str, Any]

    @property
    def verdict(self) -> str:
        """Which one is better, or "open" if the interval contains 0."""
        if self.difference.significant:
            return f"{self.b if self.difference.difference > 0 else self.a} is better"
        return "open"


def recall_at_1(outcomes: Outcomes, weights: Floats) -> float:
    """Weighted recall@1 of the mentions whose entity the knowledge base has."""
    return _recall(outcomes, weights, 1)


def recall_at_64(outcomes: Outcomes, weights: Floats) -> float:
    """Weighted recall@64 of the mentions whose entity the knowledge base has."""
    return _recall(outcomes, weights, 64)


def nil_aupr(outcomes: Outcomes, weights: Floats) -> float:
    """Weighted average precision of the NIL class."""
    return average_precision(outcomes.nil_score, outcomes.is_nil, weights)


METRICS: dict[str, Metric] = {"recall@1": recall_at_1, "recall@64": recall_at_64, "nil_aupr": nil_aupr}


def check_claims(cells: Cells, claims: Iterable[ClaimSettings], *, seed: int = 0) -> list[Claim]:
    """Test the claims whose runs are all finished.

    Args:
        cells: outcomes on the same mentions, by label.
        claims: the claims of a study.
        seed: random seed of the bootstrap.

    Returns:
        In the order given; means over the seeds.
    """
    return [
        Claim(claim.text, _difference(cells, METRICS[claim.metric], claim.than, claim.better, _CLAIM_SAMPLES, seed))
        for claim in claims
        if all(label in cells for label in (*claim.than, *claim.better))
    ]


def compare_all(cells: Cells, *, seed: int = 0) -> list[Comparison]:
    """Compare every two settings.

    Args:
        cells: outcomes on the same mentions, in the order of the study.
        seed: random seed of the bootstrap.

    Returns:
        Every pair, in that order.
    """
    found = []
    for a, b in combinations(cells, 2):
        difference = _difference(cells, recall_at_1, {a: 1.0}, {b: 1.0}, _PAIR_SAMPLES, seed)
        one, other = cells[a][0], cells[b][0]
        counted = ~one.is_nil
        test = mcnemar((one.rank == 1)[counted], (other.rank == 1)[counted])
        found.append(Comparison(a, b, difference, test))
    return found


def _recall(outcomes: Outcomes, weights: Floats, k: int) -> float:
    used = weights * ~outcomes.is_nil
    found = (outcomes.rank >= 1) & (outcomes.rank <= k)
    return float(used[found].sum() / max(used.sum(), 1e-12))


def _difference(
    cells: Cells, metric: Metric, than: Mapping[str, float], better: Mapping[str, float], n_samples: int, seed: int
) -> Difference:
    def side(shares: Mapping[str, float], weights: Floats) -> float:
        means = {label: np.mean([metric(one, weights) for one in cells[label]]) for label in shares}
        return float(sum(share * means[label] for label, share in shares.items()))

    return metric_difference(
        lambda weights: side(than, weights),
        lambda weights: side(better, weights),
        cells[next(iter(than))][0].document,
        n_samples=n_samples,
        rng=np.random.default_rng(seed),
    )
