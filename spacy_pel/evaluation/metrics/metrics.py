"""The flat table of metrics.json, from the outcomes of all mentions."""

from typing import Any, Dict, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from .bootstrap import share_interval, weighted_interval
from .nil_metrics import average_precision, precision_recall_f1
from .outcomes import Outcomes
from .reliability import reliability_metrics

RECALL_AT = (1, 2, 4, 5, 8, 16, 32, 64)
POLICY = (
    "recall@k: share of the mentions whose gold entity is in the KB (all of them: unnormalised) that have it "
    "among the first k distinct candidates, whatever the NIL decision. Ties: candidates of equal score keep "
    "the linker's order, none is counted twice. Several gold ids: any of them is right; composite mentions: "
    "all of them must be there, so no single id is right at 1. Gold ids are resolved through the KB's "
    "redirects; ids that the KB lacks are dropped, a mention left without id is NIL. accuracy counts the "
    "decision with NIL. accuracy_seen and accuracy_unseen: recall@1 of the mentions whose gold entity "
    "occurs, or does not occur, in the training corpus. mrr: 1 / rank, 0 beyond the last candidate. "
    "nil_aupr: average precision of nil_score for the gold NIL mentions. recall_all@k: share of all "
    "mentions, NIL as one more class: a mention called NIL has this one answer at every k, so it is right if "
    "it is NIL, and wrong at every k if its entity is in the KB; any other is right if its gold entity is "
    "among the first k. nil_ece: expected calibration error of nil_score as a probability, 15 bins of equal "
    "width; null if it is none. accuracy_seen and accuracy_unseen are null where no mention is of the kind. "
    "Intervals: 95 % bootstrap, documents drawn with replacement."
)


def recall_at(rank: NDArray[np.int64], k: int) -> float:
    """RETURNS (float): share of the mentions with 1 <= rank <= k; 0.0 if there are none."""
    return _share((rank >= 1) & (rank <= k))


def recall_all_at(outcomes: Outcomes, k: int) -> float:
    """Recall@k over all classes, NIL among them: the measure of the paper's Table 4. The decision
    comes first: a mention that is called NIL has no other answer, however large k is.

    RETURNS (float): share of all mentions that are NIL and called so, or are not called NIL and
        have their gold entity among the first k.
    """
    found = (outcomes.rank >= 1) & (outcomes.rank <= k)
    return _share(np.where(outcomes.called_nil, outcomes.is_nil, found & ~outcomes.is_nil))


def mean_reciprocal_rank(rank: NDArray[np.int64]) -> float:
    """RETURNS (float): mean of 1 / rank, a rank of 0 gives 0."""
    return float(np.mean(_reciprocal(rank))) if len(rank) else 0.0


def compute_metrics(
    outcomes: Outcomes,
    *,
    ks: Sequence[int] = RECALL_AT,
    n_samples: int = 1000,
    seed: int = 0,
) -> Dict[str, Any]:
    """All figures of an evaluation.

    outcomes (Outcomes): of all mentions.
    ks (Sequence[int]): for recall@k.
    n_samples (int): bootstrap samples for the intervals.
    seed (int): of the bootstrap.
    RETURNS (Dict[str, Any]): flat, see ``POLICY``; shares between 0 and 1.
    """
    rng = np.random.default_rng(seed)
    in_kb = ~outcomes.is_nil
    rank = outcomes.rank[in_kb]
    metrics: Dict[str, Any] = {
        "n": len(outcomes.rank),
        "n_documents": int(outcomes.document.max()) + 1 if len(outcomes.document) else 0,
        "n_nil": int(outcomes.is_nil.sum()),
        "accuracy": _share(outcomes.correct),
    }
    metrics.update({f"recall@{k}": recall_at(rank, k) for k in ks})
    metrics.update({f"recall_all@{k}": recall_all_at(outcomes, k) for k in ks})
    metrics["mrr"] = mean_reciprocal_rank(rank)
    metrics["nil_aupr"] = average_precision(outcomes.nil_score, outcomes.is_nil)
    metrics["nil_share"] = _share(outcomes.is_nil)
    nil = precision_recall_f1(outcomes.called_nil, outcomes.is_nil)
    metrics.update({f"nil_{name}": value for name, value in nil.items()})
    metrics.update(reliability_metrics(outcomes.nil_score, outcomes.is_nil))
    for name, chosen in (("seen", in_kb & outcomes.seen), ("unseen", in_kb & ~outcomes.seen)):
        metrics[f"n_{name}"] = int(chosen.sum())
        metrics[f"accuracy_{name}"] = recall_at(outcomes.rank[chosen], 1) if chosen.any() else None
    if len(outcomes.rank):
        metrics.update(_intervals(outcomes, ks, n_samples, rng))
    metrics["bootstrap"] = {"unit": "document", "samples": n_samples, "seed": seed}
    metrics["policy"] = POLICY
    return metrics


def _intervals(
    outcomes: Outcomes, ks: Sequence[int], n_samples: int, rng: np.random.Generator
) -> Dict[str, Optional[float]]:
    in_kb = ~outcomes.is_nil
    everyone = np.ones(len(outcomes.rank), dtype=np.bool_)
    values = {f"recall@{k}": (((outcomes.rank >= 1) & (outcomes.rank <= k)).astype(float), in_kb) for k in ks}
    values["accuracy"] = (outcomes.correct.astype(float), everyone)
    values["mrr"] = (_reciprocal(outcomes.rank), in_kb)
    values["accuracy_seen"] = ((outcomes.rank == 1).astype(float), in_kb & outcomes.seen)
    values["accuracy_unseen"] = ((outcomes.rank == 1).astype(float), in_kb & ~outcomes.seen)
    n_documents = int(outcomes.document.max()) + 1
    intervals: Dict[str, Optional[float]] = {}

    def keep(name: str, low: Optional[float], high: Optional[float]) -> None:
        intervals[f"{name}_low"], intervals[f"{name}_high"] = low, high

    for name, (value, chosen) in values.items():
        if name.startswith("accuracy_") and not chosen.any():
            keep(name, None, None)
            continue
        hits = np.zeros(n_documents)
        counts = np.zeros(n_documents)
        np.add.at(hits, outcomes.document, value * chosen)
        np.add.at(counts, outcomes.document, chosen)
        keep(name, *share_interval(hits, counts, n_samples=n_samples, rng=rng))
    if outcomes.is_nil.any():

        def aupr(weights: NDArray[np.float64]) -> float:
            return average_precision(outcomes.nil_score, outcomes.is_nil, weights)

        keep("nil_aupr", *weighted_interval(aupr, outcomes.document, n_samples=min(200, n_samples), rng=rng))
    return intervals


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _reciprocal(rank: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.where(rank >= 1, 1.0 / np.maximum(rank, 1), 0.0)
