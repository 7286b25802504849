"""The tables of a report: metrics side by side, differences, metrics by group."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...evaluation.metrics.all_metrics import RECALL_AT
from ...evaluation.metrics.groups import NO_NAME, RELATIONS, group_metrics
from ...evaluation.outcomes import Flags, Run
from ...types.semantic_types import type_label
from .compare import POLICY as COMPARE_POLICY
from .compare import compare_runs

Runs = Mapping[str, Run]  # name -> run
_COUNTS = {"n": "mentions", "n_nil": "NIL mentions"}
_SHARES = {
    "accuracy": "accuracy with NIL",
    **{f"recall@{k}": f"recall@{k}" for k in RECALL_AT},
    "recall_all@1": "recall@1, NIL as a class",
    "recall_all@64": "recall@64, NIL as a class",
    "mrr": "mean reciprocal rank",
    "accuracy_seen": "recall@1, entity seen in training",
    "accuracy_unseen": "recall@1, entity unseen",
    "nil_aupr": "NIL auPR",
    "nil_precision": "NIL precision",
    "nil_recall": "NIL recall",
    "nil_f1": "NIL F1",
    "nil_ece": "NIL calibration error",
    "answer_ece": "calibration error of P(right)",
    "coverage@95": "answers kept at 95% accuracy",
    "coverage@98": "answers kept at 98% accuracy",
    "mention_f1": "mentions found, F1",
    "typed_f1": "mentions found with the right type, F1",
    "link_f1": "mentions found and linked, F1",
}
_GROUPINGS = {
    "label": "By mention label",
    "type": "By type of the gold entity",
    "form": "By known and new surface forms",
    "seen": "By seen and unseen entities",
}
_GROUP_COLUMNS = {
    "n": "mentions",
    "recall@1": "recall@1",
    "recall": "recall",
    "accuracy": "accuracy",
    "coverage@95": "kept at 95%",
    "coverage@98": "at 98%",
}


class Cell(NamedTuple):
    """Text in a table; ``small`` follows it in small print, e.g. an interval."""

    text: str
    small: str = ""


class Table(NamedTuple):
    """A table.

    Attributes:
        title, note: above and below it.
        header: of the columns; the first column names the row.
        rows: as wide as the header.
        spans: headings over several columns, with their widths; may be empty.
    """

    title: str
    note: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    spans: Sequence[tuple[str, int]] = ()


def metric_table(runs: Runs) -> Table:
    """The metrics of the runs side by side; metrics that no run has are left out."""
    metrics = [run.metrics for run in runs.values()]
    rows = [[Cell(name), *(Cell(f"{one[key]:,}") for one in metrics)] for key, name in _COUNTS.items()]
    for key, name in _SHARES.items():
        if any(one.get(key) is not None for one in metrics):
            rows.append([Cell(name), *(_percent(one, key) for one in metrics)])
    if all("mentions_per_second" in one for one in metrics):
        rate = [Cell(f"{one['mentions_per_second']:,.0f}") for one in metrics]
        rows.append([Cell("mentions per second"), *rate])
    note = "In percent, with 95% bootstrap intervals over documents. " + str(metrics[0].get("policy", ""))
    return Table("Metrics", note, ["", *runs], rows)


def difference_table(runs: Runs) -> Table | None:
    """The other runs against the first one, paired; None unless all have the
    same mentions and gold ids."""
    (first_name, first), *others = runs.items()
    gold, *theirs = (dict(zip(run.mentions, run.gold, strict=True)) for run in runs.values())
    if not others or any(one != gold for one in theirs):
        return None
    found = {name: compare_runs(first, run) for name, run in others}
    rows = []
    for key in next(iter(found.values()))["differences"]:
        cells = [_difference(one["differences"].get(key)) for one in found.values()]
        rows.append([Cell(key.replace("nil_aupr", "NIL auPR")), *cells])
    for key in ("recall@1", "accuracy"):
        tests = [one["tests"][key] for one in found.values()]
        cells = [Cell(_p_value(one["p_value"]), f"{one['n_only_a']:,} : {one['n_only_b']:,}") for one in tests]
        rows.append([Cell(f"McNemar p, {key}"), *cells])
    note = (
        f"A = {first_name}, B = the run of the column. * = 0 is outside the interval. After p: the number of "
        f"mentions that only A : only B got right. {COMPARE_POLICY}"
    )
    return Table(f"Difference from {first_name}, in points", note, ["", *found], rows)


def group_tables(runs: Runs, masks: Mapping[str, Mapping[str, Mapping[str, Flags]]]) -> list[Table]:
    """One for each grouping with at least two groups.

    Args:
        runs: name -> run.
        masks: run -> grouping -> group -> (n,) its mentions.
    """
    tables = []
    for grouping, title in _GROUPINGS.items():
        if len({group for one in masks.values() for group in one[grouping]} - {NO_NAME}) > 1:
            of_run = {name: one[grouping] for name, one in masks.items()}
            tables.append(_group_table(runs, of_run, title, is_by_type=grouping == "type"))
    return tables


def _group_table(runs: Runs, masks: Mapping[str, Mapping[str, Flags]], title: str, *, is_by_type: bool) -> Table:
    rows = []
    for group in dict.fromkeys(group for groups in masks.values() for group in groups):
        row = [Cell(type_label(group) if is_by_type else group)]
        for name, run in runs.items():
            if group in masks[name]:
                found = group_metrics(run.outcomes, masks[name][group])
                row += [Cell(f"{found[key]:,}") if key == "n" else _share(found[key]) for key in _GROUP_COLUMNS]
            else:
                row += [Cell("–")] * len(_GROUP_COLUMNS)
        rows.append(row)
    header = ["", *list(_GROUP_COLUMNS.values()) * len(runs)]
    note = (
        "recall@1 and recall (gold entity anywhere among the candidates): over the mentions whose entity is "
        "in the KB; accuracy: over all mentions, with NIL; kept at 95%, 98%: the largest share of the group's "
        "mentions, by P(right), that is right to this percentage."
    )
    if is_by_type:
        note += f" A mention counts in each type of its gold entities; {NO_NAME} = mentions without a type."
    return Table(title, note, header, rows, [("", 1), *((name, len(_GROUP_COLUMNS)) for name in runs)])


def relation_table(runs: Runs) -> Table | None:
    """Wrong links by their distance in the hierarchy; None if no run has one whose place there is known."""
    metrics = [run.metrics for run in runs.values()]
    if not any(one.get("n_wrong_links") and one["wrong_links_unknown"] < 1 for one in metrics):
        return None
    rows = [
        [Cell(f"{name}: {meaning}"), *(_share(one.get(f"wrong_links_{name}")) for one in metrics)]
        for name, meaning in RELATIONS.items()
    ]
    counts = [one.get("n_wrong_links") for one in metrics]
    rows.append([Cell("wrong links"), *(Cell("–" if n is None else f"{n:,}") for n in counts)])
    note = (
        "What the link is to the right entity (is-a), in percent of the wrong links of mentions whose entity is in "
        "the KB."
    )
    return Table("Wrong links in the hierarchy", note, ["", *runs], rows)


def _percent(metrics: dict[str, Any], key: str) -> Cell:
    value, low, high = (metrics.get(name) for name in (key, f"{key}_low", f"{key}_high"))
    interval = "" if low is None or high is None else f"{100 * low:.1f}–{100 * high:.1f}"
    return Cell(_share(value).text, interval)


def _share(value: float | None) -> Cell:
    return Cell("–" if value is None else f"{100 * value:.1f}")


def _difference(one: dict[str, Any] | None) -> Cell:
    if one is None:
        return Cell("–")
    star = "*" if one["significant"] else ""
    interval = f"{100 * one['low']:+.1f} to {100 * one['high']:+.1f}{star}"
    return Cell(f"{100 * one['difference']:+.1f}", interval)


def _p_value(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"


def run_notes(runs: Runs) -> dict[str, str]:
    """A note on each run: folder and fingerprints."""
    notes = {}
    for name, run in runs.items():
        prints: Sequence[str] = [
            f"{part} {str(run.metrics[key])[:8]}"
            for part in ("model", "index", "kb", "corpus")
            if run.metrics.get(key := f"{part}_fingerprint")
        ]
        how = ["end to end"] if run.metrics.get("end_to_end") else []
        notes[name] = " · ".join([str(run.path), *how, *prints])
    return notes
