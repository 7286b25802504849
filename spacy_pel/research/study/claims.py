"""The claims of a paper, tested on the runs of a study by a paired bootstrap."""

from typing import Callable, Dict, Iterable, List, Mapping, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...evaluation.metrics.nil import average_precision
from ...evaluation.metrics.outcomes import Outcomes
from ...evaluation.metrics.paired_bootstrap import Difference, metric_difference
from .plan import ClaimSettings

Floats = NDArray[np.float64]
Metric = Callable[[Outcomes, Floats], float]
Cells = Dict[str, List[Outcomes]]  # "Pb random plain" -> one for each seed
_SAMPLES = 400


class Claim(NamedTuple):
    """A claim and what the runs say.

    text (str): the claim.
    difference (Difference): b - a; the claim holds where the interval lies above 0.
    """

    text: str
    difference: Difference

    @property
    def verdict(self) -> str:
        """RETURNS (str): "holds", "does not hold" or "open"."""
        if self.difference.low > 0:
            return "holds"
        return "does not hold" if self.difference.high < 0 else "open"


def recall_at_1(outcomes: Outcomes, weights: Floats) -> float:
    """RETURNS (float): weighted recall@1 of the mentions whose entity the knowledge base has."""
    return _recall(outcomes, weights, 1)


def recall_at_64(outcomes: Outcomes, weights: Floats) -> float:
    """RETURNS (float): weighted recall@64 of the mentions whose entity the knowledge base has."""
    return _recall(outcomes, weights, 64)


def nil_aupr(outcomes: Outcomes, weights: Floats) -> float:
    """RETURNS (float): weighted average precision of the NIL class."""
    return average_precision(outcomes.nil_score, outcomes.is_nil, weights)


METRICS: Dict[str, Metric] = {"recall@1": recall_at_1, "recall@64": recall_at_64, "nil_aupr": nil_aupr}


def check_claims(cells: Cells, claims: Iterable[ClaimSettings], *, seed: int = 0) -> List[Claim]:
    """Test what can be tested with the cells there are.

    cells (Cells): outcomes on the same mentions, by label.
    claims (Iterable[ClaimSettings]): the claims of a study.
    seed (int): of the bootstrap.
    RETURNS (List[Claim]): in the order given; means over the seeds.
    """
    return [
        Claim(claim.text, _difference(cells, METRICS[claim.metric], claim.than, claim.better, seed))
        for claim in claims
        if all(label in cells for label in (*claim.than, *claim.better))
    ]


def _recall(outcomes: Outcomes, weights: Floats, k: int) -> float:
    used = weights * ~outcomes.is_nil
    found = (outcomes.rank >= 1) & (outcomes.rank <= k)
    return float(used[found].sum() / max(used.sum(), 1e-12))


def _difference(
    cells: Cells, metric: Metric, than: Mapping[str, float], better: Mapping[str, float], seed: int
) -> Difference:
    def side(shares: Mapping[str, float], weights: Floats) -> float:
        means = {label: np.mean([metric(one, weights) for one in cells[label]]) for label in shares}
        return float(sum(share * means[label] for label, share in shares.items()))

    return metric_difference(
        lambda weights: side(than, weights),
        lambda weights: side(better, weights),
        cells[next(iter(than))][0].document,
        n_samples=_SAMPLES,
        rng=np.random.default_rng(seed),
    )
