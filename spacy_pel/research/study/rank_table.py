"""A study of triplet objectives in the form of Table 3 of Le & Nguyen (2023), its figures beside ours."""

from functools import partial
from itertools import combinations
from statistics import mean
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ...evaluation.metrics.mcnemar import McNemar, mcnemar
from ...evaluation.metrics.outcomes import Outcomes
from ...evaluation.metrics.paired_bootstrap import Difference, metric_difference
from .claims import recall_at_1

# Table 3, accuracy on dev: sparse and dense candidates, of MedMentions and of BC5CDR
PAPER: Dict[str, Tuple[Tuple[float, float], Tuple[float, float]]] = {
    "triplet": ((70.7, 70.3), (85.8, 87.8)),
    "triplet_downsampled": ((71.6, 71.3), (86.1, 88.1)),
    "prototype": ((71.5, 71.4), (86.2, 88.2)),
    "prototype_srn": ((71.9, 71.7), (87.0, 88.9)),
}
NOTE = (
    "accuracy@1: share of the test mentions whose entity is in the knowledge base that have it first "
    "among the reranked candidates; recall of the candidates is what no ranker can exceed. Intervals: "
    "95 % bootstrap over documents; differences are paired. McNemar's test takes mentions as "
    "independent, so its p-value is rather too small. Paper (Le & Nguyen 2023, Table 3): dev accuracy "
    "with sparse / dense candidates; on test, prototype_srn has 72.8 on MedMentions (seen entities "
    "76.5, unseen 58.1) and 93.5 on BC5CDR (96.1, 80.1), trained in 10 hours and linking MedMentions "
    "in half an hour on one A100."
)
HEAD = [
    "run",
    "accuracy@1",
    "seen",
    "unseen",
    "candidates' recall",
    "dev accuracy",
    "minutes",
    "mentions/s",
    "radius",
    "paper MedMentions",
    "paper BC5CDR",
]
PAIR_HEAD = [
    "runs",
    "without",
    "with",
    "difference",
    "McNemar p",
    "on these data",
    "paper MedMentions",
    "paper BC5CDR",
]
_SAMPLES = 1000
Cells = Dict[str, List[Outcomes]]  # label -> one for each seed


class Comparison(NamedTuple):
    """Two settings on the same mentions.

    a, b (str): their labels.
    difference (Difference): of accuracy@1, b - a; means over the seeds.
    test (McNemar): of the runs with the first seed.
    """

    a: str
    b: str
    difference: Difference
    test: McNemar

    @property
    def verdict(self) -> str:
        """RETURNS (str): which one is better, or "open" where the interval holds 0."""
        if self.difference.significant:
            return f"{self.b if self.difference.difference > 0 else self.a} is better"
        return "open"


def compare_all(cells: Cells, *, seed: int = 0) -> List[Comparison]:
    """Compare each two settings.

    cells (Cells): outcomes on the same mentions, in the order of the study.
    seed (int): of the bootstrap.
    RETURNS (List[Comparison]): every pair, in that order.
    """
    found = []
    for a, b in combinations(cells, 2):
        one, other = cells[a], cells[b]
        difference = metric_difference(
            partial(_accuracy, one),
            partial(_accuracy, other),
            one[0].document,
            n_samples=_SAMPLES,
            rng=np.random.default_rng(seed),
        )
        counted = ~one[0].is_nil
        test = mcnemar((one[0].rank == 1)[counted], (other[0].rank == 1)[counted])
        found.append(Comparison(a, b, difference, test))
    return found


def _accuracy(runs: Sequence[Outcomes], weights: Any) -> float:
    return float(np.mean([recall_at_1(outcomes, weights) for outcomes in runs]))


def rank_rows(results: Sequence[Dict[str, Any]]) -> List[List[str]]:
    """RETURNS (List[List[str]]): a row for each label under HEAD, in percent; means over the seeds,
    intervals where there is one seed."""
    rows = []
    for label in dict.fromkeys(result["label"] for result in results):
        same = [result for result in results if result["label"] == label]
        deepest = max((key for key in same[0] if _is_recall(key)), key=lambda key: int(key.split("@")[1]))
        minutes = _mean(same, "train_seconds")
        rows.append(
            [
                label,
                *(_figure(same, key) for key in ("recall@1", "accuracy_seen", "accuracy_unseen")),
                f"{_percent(same, deepest)} ({deepest})",
                _percent(same, "dev_accuracy"),
                "–" if minutes is None else f"{minutes / 60:.1f}",
                _number(same, "mentions_per_second", 0),
                _number(same, "radius", 2),
                *_paper(label),
            ]
        )
    return rows


def pair_rows(comparisons: Sequence[Comparison]) -> List[List[str]]:
    """RETURNS (List[List[str]]): a row for each pair under PAIR_HEAD, in points."""
    rows = []
    for one in comparisons:
        d, p = one.difference, one.test.p_value
        rows.append(
            [
                f"{one.a} → {one.b}",
                f"{100 * d.a:.1f}",
                f"{100 * d.b:.1f}",
                f"{100 * d.difference:+.1f} [{100 * d.low:+.1f}, {100 * d.high:+.1f}]",
                f"{p:.4f}" if p >= 0.0001 else "<0.0001",
                one.verdict,
                *_paper_difference(one.a, one.b),
            ]
        )
    return rows


def _paper(label: str) -> List[str]:
    if label not in PAPER:
        return ["–", "–"]
    return [f"{sparse} / {dense}" for sparse, dense in PAPER[label]]


def _paper_difference(a: str, b: str) -> List[str]:
    if a not in PAPER or b not in PAPER:
        return ["–", "–"]
    return [
        " / ".join(f"{ours - theirs:+.1f}" for theirs, ours in zip(PAPER[a][i], PAPER[b][i], strict=True))
        for i in range(2)
    ]


def _is_recall(key: str) -> bool:
    return key.startswith("recall@") and key.split("@")[1].isdecimal()


def _mean(same: Sequence[Dict[str, Any]], key: str) -> Optional[float]:
    values = [one[key] for one in same if one.get(key) is not None]
    return mean(values) if values else None


def _percent(same: Sequence[Dict[str, Any]], key: str) -> str:
    return _number([{key: 100 * one[key]} for one in same if one.get(key) is not None], key, 1)


def _number(same: Sequence[Dict[str, Any]], key: str, digits: int) -> str:
    value = _mean(same, key)
    return "–" if value is None else f"{value:.{digits}f}"


def _figure(same: Sequence[Dict[str, Any]], key: str) -> str:
    low, high = same[0].get(f"{key}_low"), same[0].get(f"{key}_high")
    if len(same) > 1 or low is None or high is None:
        return _percent(same, key)
    return f"{_percent(same, key)} [{100 * low:.1f}, {100 * high:.1f}]"
