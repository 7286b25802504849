"""Compare two runs on the same mentions: differences, and whether they are significant."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import Errors, PelError
from ...evaluation.metrics.all_metrics import average_precision, found_within
from ...evaluation.metrics.bootstrap import metric_difference, share_difference
from ...evaluation.metrics.probabilities import ACCURACIES, RankedAnswers
from ...evaluation.outcomes import Flags, Outcomes, Run

Shares = dict[str, tuple[Flags, Flags, Flags]]  # name -> hits of a, hits of b, mentions that count
RECALL_AT = (1, 5, 64)
_LEVEL = 0.05
POLICY = (
    "Differences are B - A on the same mentions. Intervals: 95% percentiles of a paired bootstrap that "
    "draws documents with replacement and measures both runs on each draw, since the mentions of a document "
    "are not independent. McNemar's test takes mentions as independent, so its p-value tends to be too low: "
    "if it disagrees with the interval, trust the interval. Of 20 groups without any difference, one is "
    "expected to have a p-value below 0.05 by chance."
)


def compare_runs(
    a: Run, b: Run, *, groups: Mapping[str, Flags] | None = None, n_samples: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """Compare two evaluations.

    Args:
        a, b: of the same mentions, in any order.
        groups: name -> which mentions of ``a`` belong to the group.
        n_samples: bootstrap samples.
        seed: random seed of the bootstrap, the same for each metric.

    Returns:
        "tests", "differences", "seen" (seen and unseen entities, by the training
        corpus of ``a``) and "groups", as JSON data. See ``POLICY``.

    Raises:
        PelError: if mentions or gold ids differ.
    """
    ours, theirs = a.outcomes, aligned(a, b)
    shares = _shares(ours, theirs, min(_depth(a), _depth(b)))
    differences = {name: _share(share, ours, n_samples, seed) for name, share in shares.items()}
    if ours.is_nil.any():
        differences["nil_aupr"] = _nil_aupr(ours, theirs, n_samples, seed)
    answers = [RankedAnswers(one.probability, one.correct) for one in (ours, theirs)]
    for accuracy in ACCURACIES if all(answers) else ():
        metric_a, metric_b = (partial(one.coverage_at, accuracy / 100) for one in answers)
        rng = np.random.default_rng(seed)
        difference = metric_difference(metric_a, metric_b, ours.document, n_samples=n_samples, rng=rng)
        differences[f"coverage@{accuracy}"] = difference.to_json()
    return {
        "a": str(a.path),
        "b": str(b.path),
        "n": len(ours.rank),
        "n_nil": int(ours.is_nil.sum()),
        "n_documents": int(ours.document.max()) + 1,
        "tests": {name: mcnemar(*shares[name]) for name in ("recall@1", "accuracy")},
        "differences": differences,
        "seen": [
            _group(name, mask & ~ours.is_nil, shares, ours, n_samples, seed)
            for name, mask in (("seen", ours.seen), ("unseen", ~ours.seen))
        ],
        "groups": [_group(name, mask, shares, ours, n_samples, seed) for name, mask in (groups or {}).items()],
        "bootstrap": {"unit": "document", "samples": n_samples, "seed": seed},
        "policy": POLICY,
    }


def aligned(a: Run, b: Run) -> Outcomes:
    """Of ``b``, in the order of the mentions of ``a``.

    Raises:
        PelError: if they are not the same mentions with the same gold ids.
    """
    row_of = {key: row for row, key in enumerate(b.mentions)}
    paths: dict[str, Any] = {"a": a.path, "b": b.path}
    if different := set(a.mentions).symmetric_difference(b.mentions):
        counts = {"n_a": f"{len(a.mentions):,}", "n_b": f"{len(b.mentions):,}", "n": f"{len(different):,}"}
        raise PelError(Errors.E682.format(**paths, **counts, example=_name(min(different))))
    order = np.asarray([row_of[key] for key in a.mentions], dtype=np.int64)
    pairs = [(key, ids, b.gold[row_of[key]]) for key, ids in zip(a.mentions, a.gold, strict=True)]
    if differing := [pair for pair in pairs if pair[1] != pair[2]]:
        key, *ids = differing[0]
        gold_a, gold_b = (", ".join(gold) or "NIL" for gold in ids)
        n = f"{len(differing):,}"
        raise PelError(Errors.E683.format(**paths, n=n, example=_name(key), gold_a=gold_a, gold_b=gold_b))
    return Outcomes._make(column[order] for column in b.outcomes)


def _name(key: tuple[Any, ...]) -> str:
    return f"{key[0]}, characters {key[1]} to {key[2]}"


def _depth(run: Run) -> int:
    return int(run.metrics.get("top_k", RECALL_AT[-1]))


def _shares(a: Outcomes, b: Outcomes, depth: int) -> Shares:
    hits = {f"recall@{k}": (found_within(a.rank, k), found_within(b.rank, k)) for k in RECALL_AT if k <= depth}
    shares = {name: (*both, ~a.is_nil) for name, both in hits.items()}
    return {**shares, "accuracy": (a.correct, b.correct, np.ones(len(a.rank), dtype=np.bool_))}


def _share(share: tuple[Flags, Flags, Flags], a: Outcomes, n_samples: int, seed: int) -> dict[str, Any]:
    return share_difference(*share, a.document, n_samples=n_samples, rng=np.random.default_rng(seed)).to_json()


def _nil_aupr(a: Outcomes, b: Outcomes, n_samples: int, seed: int) -> dict[str, Any]:
    def metric(outcomes: Outcomes) -> Any:
        # sorted once here, so that the sort of each sample is fast
        order = np.argsort(-outcomes.nil_score, kind="stable")
        scores, truth = outcomes.nil_score[order], outcomes.is_nil[order]
        return lambda weights: average_precision(scores, truth, weights[order])

    rng = np.random.default_rng(seed)
    return metric_difference(metric(a), metric(b), a.document, n_samples=n_samples, rng=rng).to_json()


def _group(name: str, mask: Flags, shares: Shares, a: Outcomes, n_samples: int, seed: int) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "n": int(mask.sum()), "n_nil": int((mask & a.is_nil).sum())}
    row["n_documents"] = len(np.unique(a.document[mask]))
    for metric in ("recall@1", "accuracy"):
        a_hits, b_hits, counted = shares[metric]
        share = (a_hits, b_hits, counted & mask)
        if share[2].any():
            test = mcnemar(*share)
            row[metric] = {**_share(share, a, n_samples, seed), "p_value": test["p_value"], "test": test}
    return row


def mcnemar(a_right: Flags, b_right: Flags, counted: Flags | None = None) -> dict[str, Any]:
    """Test two runs on the same mentions (McNemar 1947): under the null hypothesis a mention that one run
    alone got right is as likely to be A's as B's, by the exact binomial test.

    The test assumes independent mentions. Mentions of one document are not, so its p-value is too
    small where errors cluster in documents; use ``bootstrap`` there.

    Args:
        a_right, b_right: (n,), the same mentions in the same order.
        counted: (n,), those that count; None = all.

    Returns:
        "n_both", "n_only_a", "n_only_b" and "n_neither", the mentions that both runs, only one or none got right;
        "p_value", two-sided, 1 where the runs never differ; "significant": it is below 0.05.
    """
    from scipy.stats import binomtest

    names = ("n_neither", "n_only_b", "n_only_a", "n_both")
    outcomes = (2 * a_right + b_right)[slice(None) if counted is None else counted]
    counts = dict(zip(names, np.bincount(outcomes, minlength=4).tolist(), strict=True))
    only_a, n_discordant = counts["n_only_a"], counts["n_only_a"] + counts["n_only_b"]
    p_value = float(binomtest(only_a, n_discordant).pvalue) if n_discordant else 1.0
    return {**counts, "p_value": p_value, "significant": p_value < _LEVEL}


def run_names(paths: Sequence[Path]) -> list[str]:
    """A name for each folder: the shortest end of its path that is unique among
    them."""
    parts = [path.absolute().parts for path in paths]
    for n in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(one[-n:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path} ({number})" for number, path in enumerate(paths, start=1)]
