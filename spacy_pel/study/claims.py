"""The claims of Wiatrak et al. (2022), tested on the runs of a study by a paired bootstrap."""

from typing import Callable, Dict, List, NamedTuple, Sequence

import numpy as np
from numpy.typing import NDArray

from ..evaluation.nil_metrics import average_precision
from ..evaluation.outcomes import Outcomes
from ..evaluation.paired_bootstrap import Difference, metric_difference

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
    used = weights * ~outcomes.is_nil
    return float(used[outcomes.rank == 1].sum() / max(used.sum(), 1e-12))


def nil_aupr(outcomes: Outcomes, weights: Floats) -> float:
    """RETURNS (float): weighted average precision of the NIL class."""
    return average_precision(outcomes.nil_score, outcomes.is_nil, weights)


def check_claims(cells: Cells, margins: Sequence[str] = (), *, seed: int = 0) -> List[Claim]:
    """Test what can be tested with the cells there are.

    cells (Cells): outcomes on the same mentions, by "LOSS NEGATIVES REGULARISER" (Pb or CE, random or
        mixed, plain or FGSM).
    margins (Sequence[str]): labels of runs with a growing margin, the first with margin 0.
    seed (int): of the bootstrap.
    RETURNS (List[Claim]): in the order of the paper's claims; means over the seeds.
    """
    claims = []

    def add(text: str, metric: Metric, a: Sequence[str], b: Sequence[str]) -> None:
        if all(name in cells for name in (*a, *b)):
            claims.append(Claim(text, _difference(cells, metric, a, b, seed)))

    add(
        "Pb beats CE at recall@1 with random negatives", recall_at_1, ["CE random plain"], ["Pb random plain"]
    )
    needed = ["CE random plain", "CE mixed plain", "Pb random plain", "Pb mixed plain"]
    if all(name in cells for name in needed):
        claims.append(Claim("Hard negatives help CE more than Pb", _gains(cells, seed)))
    for loss in ("Pb", "CE"):
        for kind in ("random", "mixed"):
            text = f"FGSM helps {loss} with {kind} negatives at recall@1"
            add(text, recall_at_1, [f"{loss} {kind} plain"], [f"{loss} {kind} FGSM"])
    for kind in ("random", "mixed"):
        text = f"Pb's NIL auPR is above CE's with {kind} negatives"
        add(text, nil_aupr, [f"CE {kind} plain"], [f"Pb {kind} plain"])
    for smaller, larger in zip(margins, margins[1:], strict=False):
        add(f"NIL auPR grows from {smaller} to {larger}", nil_aupr, [smaller], [larger])
    return claims


def _mean(cells: Cells, names: Sequence[str], metric: Metric, weights: Floats) -> float:
    return float(np.mean([metric(one, weights) for name in names for one in cells[name]]))


def _difference(cells: Cells, metric: Metric, a: Sequence[str], b: Sequence[str], seed: int) -> Difference:
    return metric_difference(
        lambda weights: _mean(cells, a, metric, weights),
        lambda weights: _mean(cells, b, metric, weights),
        cells[a[0]][0].document,
        n_samples=_SAMPLES,
        rng=np.random.default_rng(seed),
    )


def _gains(cells: Cells, seed: int) -> Difference:
    """RETURNS (Difference): what mixed negatives bring to Pb (a) and to CE (b), in recall@1."""

    def gain(loss: str, weights: Floats) -> float:
        mixed = _mean(cells, [f"{loss} mixed plain"], recall_at_1, weights)
        return mixed - _mean(cells, [f"{loss} random plain"], recall_at_1, weights)

    return metric_difference(
        lambda weights: gain("Pb", weights),
        lambda weights: gain("CE", weights),
        cells["CE random plain"][0].document,
        n_samples=_SAMPLES,
        rng=np.random.default_rng(seed),
    )
