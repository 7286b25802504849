"""The commands ``compare`` and ``report``, which look at what ``evaluate`` wrote."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ...cli._app import command_group
from ...cli._options import Files, KBForTypes, Seed, argument, option
from ...cli._output import emit, message, text_table
from ...errors import Errors, PelError

_LARGE = 5_000_000  # bytes

report_cli = command_group("report", "Compare and show evaluations.", panel="Evaluate")


@report_cli.command("compare", rich_help_panel="Evaluate")
def compare(
    dir_a: Annotated[Path, argument("FOLDER_A", "Folder of `evaluate` for one pipeline.")],
    dir_b: Annotated[Path, argument("FOLDER_B", "Folder of `evaluate` for another pipeline, on the same corpus.")],
    group_by: Annotated[
        Literal["label", "type", "form", "seen"],
        typer.Option(
            help="Groups of the last table: mention label, KB type of the gold entity, surface form known to annotated "
            "text, or entity seen in training."
        ),
    ] = "label",
    kb: KBForTypes = None,
    seed: Seed = 0,
) -> None:
    """Compare two evaluations of one corpus: is B better than A?

    Runs McNemar's test at the 0.05 level, and a paired bootstrap over documents for 95% intervals.

    Example: spacy-pel compare metrics/base metrics/new --group-by type
    """
    from ...cli._kb import open_kb
    from ...evaluation.metrics.groups import GROUPINGS, NO_NAME, MentionGroups
    from ...evaluation.outcomes import read_run
    from ..report.compare import compare_runs
    from ..report.report import fill_types

    groups = MentionGroups(GROUPINGS[group_by])
    watch = [partial(fill_types, open_kb(kb))] if kb else []
    a = read_run(dir_a, watch=[*watch, groups.add])
    masks = groups.masks()
    if group_by == "type" and set(masks) == {NO_NAME} and not a.outcomes.is_nil.all():
        raise PelError(Errors.E684.format(path=dir_a))
    comparison = compare_runs(a, read_run(dir_b), groups=masks, seed=seed)
    emit({**comparison, "group_by": group_by}, _comparison_text)


def _comparison_text(comparison: dict[str, Any]) -> str:
    head = (
        f"A = {comparison['a']}\nB = {comparison['b']}\n{comparison['n']:,} mentions in "
        f"{comparison['n_documents']:,} documents, {comparison['n_nil']:,} NIL"
    )
    # of seen and of unseen entities recall@1: none of these mentions is NIL
    by_seen = {f"recall@1 {group['name']}": group["recall@1"] for group in comparison["seen"] if "recall@1" in group}
    tests = {**comparison["tests"], **{name: row["test"] for name, row in by_seen.items()}}
    differences = []
    for name, row in {**comparison["differences"], **by_seen}.items():
        test = tests.get(name)
        counts = [f"{test['n_only_a']:,}", f"{test['n_only_b']:,}", f"{test['p_value']:.4f}"] if test else [""] * 3
        differences.append([name, *_cells(row), *counts])
    rows: list[list[str]] = []
    for group in comparison["groups"]:
        cells = [f"{group[key]:,}" for key in ("n", "n_nil", "n_documents")]
        for metric in ("recall@1", "accuracy"):
            cells += _cells(group[metric]) if metric in group else ["–"] * 4
        rows.append([group["name"], *cells])
    by_group = [comparison["group_by"], "mentions", "NIL", "documents"]
    by_group += [*("r@1 A", "r@1 B", "B - A", "95%"), *("acc. A", "acc. B", "B - A", "95%")]
    columns = ["percent", "A", "B", "B - A", "95%", "only A", "only B", "McNemar p"]
    tables = [text_table(columns, differences), text_table(by_group, rows)]
    return "\n\n".join([head, *tables, f"* = the interval excludes 0. {comparison['policy']}"])


def _cells(row: dict[str, Any]) -> list[str]:
    star = "*" if row["significant"] else " "
    interval = f"[{100 * row['low']:+.1f}, {100 * row['high']:+.1f}]{star}"
    return [f"{100 * row['a']:.1f}", f"{100 * row['b']:.1f}", f"{100 * row['difference']:+.1f}", interval]


@report_cli.command("report", rich_help_panel="Evaluate")
def report(
    dirs: Annotated[list[Path], argument("FOLDER", "Of `evaluate`; the first is compared with the others.")],
    output: Annotated[Path, option("FILE", "The page to write.")] = Path("report.html"),
    corpus: Annotated[Files, option("FILE", "The evaluated corpus, to show errors in context (repeatable).")] = None,
    kb: KBForTypes = None,
    title: Annotated[str, option("TEXT", "Title of the page.")] = "Entity linking",
    max_errors: Annotated[int, option("N", "Maximum number of errors shown of each kind, over all runs.", min=0)] = 200,
) -> None:
    """Write one HTML page with tables, curves and an error browser. It works offline.

    Example: spacy-pel report metrics/base metrics/new --corpus corpus/test.jsonl --kb training/pipeline
    """
    from ...cli._kb import open_kb
    from ...util import atomic_path
    from ..report.report import make_report

    opened = open_kb(kb) if kb else None
    made = make_report(dirs, corpora=corpus or [], kb=opened, title=title, max_errors=max_errors)
    data = made.html.encode("utf8")
    with atomic_path(output) as part:
        part.write_bytes(data)
    if len(data) > _LARGE:
        message(f"The page is {len(data) / 1e6:.1f} MB. Lower --max-errors to shrink it.")
    result = {"output": str(output), "bytes": len(data), "errors": made.errors, "errors_shown": made.n_shown}
    text = f"Wrote {output} ({len(data) / 1e6:.1f} MB, {made.n_shown:,} errors)"
    emit(result, lambda _: text)
