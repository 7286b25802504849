"""The tables of a study, with the paper's results next to ours."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean
from typing import Any

from spacy.util import registry as spacy_registry

from .claims import Claim, Comparison
from .hard_negatives import own_hard_negatives
from .plan import PaperRun, at

Runs = Sequence[dict[str, Any]]  # metrics.json of runs; those of one setting differ in their seed
Column = tuple[str, Callable[[Runs], str]]  # head, and the cell of one setting
_FIRST_AND_LAST = (1, 64)  # the cuts of the papers' tables of retrieval
CLAIM_HEAD = ["claim", "without", "with", "difference", "on these data"]
PAIR_HEAD = ["runs", "without", "with", "difference", "McNemar p", "on these data", "paper MedMentions", "paper BC5CDR"]
# Le & Nguyen (2023), Table 3, accuracy on dev: sparse and dense candidates, of MedMentions and of BC5CDR
TRIPLET_PAPER: dict[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "triplet": ((70.7, 70.3), (85.8, 87.8)),
    "triplet_downsampled": ((71.6, 71.3), (86.1, 88.1)),
    "prototype": ((71.5, 71.4), (86.2, 88.2)),
    "prototype_srn": ((71.9, 71.7), (87.0, 88.9)),
}
RANKER_NOTE = (
    "accuracy@1: share of the test mentions whose entity is in the knowledge base that have it first "
    "among the reranked candidates; recall of the candidates is the upper bound of every ranker. Intervals: "
    "95% bootstrap over documents; differences are paired. McNemar's test takes mentions as "
    "independent, so its p-value tends to be too small. Paper (Le & Nguyen 2023, Table 3): dev accuracy "
    "with sparse / dense candidates; on test, prototype_srn has 72.8 on MedMentions (seen entities "
    "76.5, unseen 58.1) and 93.5 on BC5CDR (96.1, 80.1), trained in 10 hours and linking MedMentions "
    "in half an hour on one A100."
)

WORLDS_NOTE = (
    "val, test: recall over all mentions of these worlds whose entity is in their world's knowledge base, "
    "as in Cai et al. (2023), Table 3; mean: worlds of equal weight. Second table: all mentions of the test "
    "worlds (Table 8 there); third: recall@1 / recall@64 of each world (Table 4). Claims are about all "
    "mentions of the test worlds. Intervals: 95% bootstrap over documents; differences are paired."
)


def encoder_columns(paper: Iterable[PaperRun]) -> list[Column]:
    """Of a study of bi-encoders.

    Args:
        paper: the paper's results, in percent.
    """
    results = list(paper)
    return [
        ("run", _label),
        ("recall@1", _with_interval("recall@1")),
        ("recall@64", _with_interval("recall@64")),
        ("NIL auPR", _with_interval("nil_aupr")),
        ("NIL P / R", lambda same: f"{_percent(same, 'nil_precision')} / {_percent(same, 'nil_recall')}"),
        ("all@1", lambda same: _percent(same, "recall_all@1")),
        ("all@64", lambda same: _percent(same, "recall_all@64")),
        ("own hard", _own_hard),
        ("minutes", _minutes),
        ("paper @1 / @64", _in_paper(results, "recall@1", "recall@64")),
        ("paper NIL auPR", _in_paper(results, "nil_aupr")),
    ]


def world_columns(paper: Iterable[PaperRun], kinds: Sequence[str]) -> list[Column]:
    """Of a study over worlds: recall over all mentions of the worlds of each kind,
    and the mean over the worlds of the test.

    Args:
        paper: the paper's results, in percent.
        kinds: "val" and "test", or "test" alone.
    """
    results = list(paper)
    columns: list[Column] = [("run", _label)]
    for kind in kinds:
        columns += [(f"{kind} @{k}", _of_worlds(kind, ("micro",), k, interval=True)) for k in _FIRST_AND_LAST]
    columns += [(f"mean of test worlds @{k}", _of_worlds("test", ("macro",), k)) for k in _FIRST_AND_LAST]
    columns += [("own hard", _own_hard), ("minutes", _minutes)]
    prefixes = [(kind, "" if kind == "test" else f"{kind}_") for kind in kinds]
    return columns + [
        (f"paper {kind} @1 / @64", _in_paper(results, f"{prefix}recall@1", f"{prefix}recall@64"))
        for kind, prefix in prefixes
    ]


def depth_columns(kind: str, ks: Sequence[int]) -> list[Column]:
    """Recall@k over all mentions of the worlds, for each k.

    Args:
        kind: "val" or "test".
        ks: a column for each.
    """
    return [("run", _label), *((f"recall@{k}", _of_worlds(kind, ("micro",), k)) for k in ks)]


def by_world_columns(worlds: Mapping[str, Sequence[str]]) -> list[Column]:
    """Recall@1 / recall@64 of each world.

    Args:
        worlds: names of the worlds of validation and of the test.
    """
    columns: list[Column] = [("run", _label)]
    for kind, names in worlds.items():
        columns += [(f"{kind}: {name}", _both_of_world(kind, name)) for name in names]
    return columns


def ranker_columns() -> list[Column]:
    """Of a study of rankers."""
    return [
        ("run", _label),
        ("accuracy@1", _with_interval("recall@1")),
        ("seen", _with_interval("accuracy_seen")),
        ("unseen", _with_interval("accuracy_unseen")),
        ("candidates' recall", _deepest_recall),
        ("dev accuracy", lambda same: _percent(same, "dev_accuracy")),
        ("minutes", _minutes),
        ("mentions/s", lambda same: _number(_mean(same, "mentions_per_second"), 0)),
        ("radius", lambda same: _number(_mean(same, "radius"), 2)),
        ("paper MedMentions", lambda same: _triplet_paper(same[0]["label"], 0)),
        ("paper BC5CDR", lambda same: _triplet_paper(same[0]["label"], 1)),
    ]


def run_rows(results: Runs, columns: Sequence[Column]) -> list[list[str]]:
    """A row for each label, in percent: means over the seeds, intervals if
    there is one seed."""
    labels = dict.fromkeys(result["label"] for result in results)
    settings = [[result for result in results if result["label"] == label] for label in labels]
    return [[cell(same) for _, cell in columns] for same in settings]


def size_note(results: Runs) -> str:
    """One line on what sets the level of the results of one corpus: encoder, updates, knowledge base.

    Args:
        results: of a study of bi-encoders.
    """
    run = next(result for result in results if "config" in result)
    pel = run["config"]["pel"]
    encoder, training = pel["encoder"], pel["training"]
    lengths = [str(encoder[f"{side}_template"]["max_length"]) for side in ("mention", "entity")]
    length = f"{training['max_steps']:,} updates" if training.get("max_steps") else f"{training['max_epochs']} epochs"
    return (
        f"{encoder['name']}, {' and '.join(lengths)} word pieces, {pel['negatives']['n_negatives']} negatives, "
        f"batches of {training['batch_size']}, {length}, {run['kb_entities']:,} entities, {run['n']:,} test mentions"
    )


def claim_rows(claims: Sequence[Claim]) -> list[list[str]]:
    """A row for each claim under CLAIM_HEAD, in points."""
    return [[claim.text, *_difference(claim), claim.verdict] for claim in claims]


def pair_rows(comparisons: Sequence[Comparison]) -> list[list[str]]:
    """A row for each pair under PAIR_HEAD, in points."""
    rows = []
    for one in comparisons:
        p = one.test["p_value"]
        p_value = f"{p:.4f}" if p >= 0.0001 else "<0.0001"
        paper = [_triplet_paper_difference(one.a, one.b, corpus) for corpus in (0, 1)]
        rows.append([f"{one.a} → {one.b}", *_difference(one), p_value, one.verdict, *paper])
    return rows


def _difference(one: Claim | Comparison) -> list[str]:
    found = one.difference
    return [f"{100 * found.a:.1f}", f"{100 * found.b:.1f}", found.in_points]


def _triplet_paper(label: str, corpus: int) -> str:
    return " / ".join(map(str, TRIPLET_PAPER[label][corpus])) if label in TRIPLET_PAPER else "–"


def _triplet_paper_difference(a: str, b: str, corpus: int) -> str:
    if a not in TRIPLET_PAPER or b not in TRIPLET_PAPER:
        return "–"
    pairs = zip(TRIPLET_PAPER[a][corpus], TRIPLET_PAPER[b][corpus], strict=True)
    return " / ".join(f"{with_it - without:+.1f}" for without, with_it in pairs)


def _label(same: Runs) -> str:
    return str(same[0]["label"])


def _in_paper(paper: Iterable[PaperRun], *keys: str) -> Callable[[Runs], str]:
    theirs: dict[str, Mapping[Any, float]] = {run.label: run.metrics for run in paper}

    def cell(same: Runs) -> str:
        found = theirs.get(_label(same), {})
        return " / ".join(f"{found[key]:.1f}" for key in keys if key in found) or "–"

    return cell


def _of_worlds(kind: str, part: Sequence[str], k: int, *, interval: bool = False) -> Callable[[Runs], str]:
    """part: keys in ``recall_by_group`` of that kind of worlds."""
    key = f"recall@{k}"

    def cell(same: Runs) -> str:
        metrics = [at(one["worlds"][kind], part) for one in same]
        return _with_interval(key)(metrics) if interval else _percent(metrics, key)

    return cell


def _both_of_world(kind: str, world: str) -> Callable[[Runs], str]:
    first, last = (_of_worlds(kind, ("groups", world), k) for k in _FIRST_AND_LAST)
    return lambda same: f"{first(same)} / {last(same)}"


def _deepest_recall(same: Runs) -> str:
    recalls = [key for key in same[0] if key.startswith("recall@") and key.split("@")[1].isdecimal()]
    deepest = max(recalls, key=lambda key: int(key.split("@")[1]))
    return f"{_percent(same, deepest)} ({deepest})"


def _own_hard(same: Runs) -> str:
    """Hard negatives of a mention's own, as the sampler of the run counts them."""
    pel = same[0].get("config", {}).get("pel")
    if not pel:
        return "–"
    sampler = spacy_registry.resolve({"negatives": pel["negatives"]})["negatives"]
    count = own_hard_negatives(sampler, pel["training"]["batch_size"])
    return "–" if count is None else f"{count:.3g}"


def _minutes(same: Runs) -> str:
    seconds = _mean(same, "train_seconds")
    return _number(None if seconds is None else seconds / 60, 1)


def _with_interval(key: str) -> Callable[[Runs], str]:
    def cell(same: Runs) -> str:
        low, high = same[0].get(f"{key}_low"), same[0].get(f"{key}_high")
        if len(same) > 1 or low is None or high is None:
            return _percent(same, key)
        return f"{_percent(same, key)} [{100 * low:.1f}, {100 * high:.1f}]"

    return cell


def _percent(same: Runs, key: str) -> str:
    value = _mean(same, key)
    return _number(None if value is None else 100 * value, 1)


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _mean(same: Runs, key: str) -> float | None:
    values = [one[key] for one in same if one.get(key) is not None]
    return mean(values) if values else None
