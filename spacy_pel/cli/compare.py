"""The command ``compare``: two evaluations of the same corpus."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ._app import pel_cli
from ._output import JSON, emit
from ._table import text_table


class GroupBy(str, Enum):
    """Names of ``evaluation.metrics.mention_groups.GROUPINGS``."""

    label = "label"
    type = "type"
    seen = "seen"


@pel_cli.command("compare")
def compare(
    dir_a: Annotated[Path, typer.Argument(metavar="FOLDER_A", help="Folder of `evaluate` for one pipeline.")],
    dir_b: Annotated[
        Path, typer.Argument(metavar="FOLDER_B", help="Folder of `evaluate` for another pipeline, on the same corpus.")
    ],
    group_by: Annotated[
        GroupBy,
        typer.Option(help="Groups of the last table: mention label, KB type of the gold entity, or seen in training."),
    ] = GroupBy.label,
    kb: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="KB or pipeline with the types, if the predictions lack them.")
    ] = None,
    samples: Annotated[int, typer.Option(metavar="N", min=1, help="Bootstrap samples.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the bootstrap.")] = 0,
    as_json: bool = JSON,
) -> None:
    """Compare two evaluations of one corpus: is B better than A?

    McNemar's test at level 0.05, and paired bootstrap intervals over documents.

    Example: spacy-pel compare metrics/base metrics/new --group-by type
    """
    from ..evaluation.compare import compare_runs
    from ..evaluation.metrics.mention_groups import GROUPINGS, NO_NAME, MentionGroups
    from ..evaluation.run_folder import read_run
    from ._kb import fill_types, open_kb

    groups = MentionGroups(GROUPINGS[group_by.value])
    watch = [fill_types(open_kb(kb))] if kb else []
    a = read_run(dir_a, watch=[*watch, groups.add])
    masks = groups.masks()
    if group_by is GroupBy.type and set(masks) == {NO_NAME} and not a.outcomes.is_nil.all():
        raise PelError(Errors.E684.format(path=dir_a))
    found = compare_runs(a, read_run(dir_b), groups=masks, n_samples=samples, seed=seed)
    emit({**found, "group_by": group_by.value}, as_json=as_json, text=_text)


def _text(found: dict[str, Any]) -> str:
    head = (
        f"A = {found['a']}\nB = {found['b']}\n{found['n']:,} mentions in {found['n_documents']:,} documents, "
        f"{found['n_nil']:,} NIL"
    )
    # of seen and of unseen entities recall@1: none of these mentions is NIL
    by_seen = {f"recall@1 {group['name']}": group["recall@1"] for group in found["seen"] if "recall@1" in group}
    differences = [[name, *_cells(one)] for name, one in {**found["differences"], **by_seen}.items()]
    tested = {**found["tests"], **{name: one["test"] for name, one in by_seen.items()}}
    tests = [
        [
            name,
            *(f"{one[key]:,}" for key in ("n_both", "n_only_a", "n_only_b", "n_neither")),
            one["test"],
            f"{one['p_value']:.4f}" if one["p_value"] >= 0.0001 else "<0.0001",
            "yes" if one["significant"] else "no",
        ]
        for name, one in tested.items()
    ]
    rows: list[list[str]] = []
    for group in found["groups"]:
        cells = [f"{group[key]:,}" for key in ("n", "n_nil", "n_documents")]
        for metric in ("recall@1", "accuracy"):
            cells += _cells(group[metric]) if metric in group else ["–"] * 4
        rows.append([group["name"], *cells])
    both = ["A", "B", "B - A", "95%"]
    parts = [
        head,
        text_table(["percent", *both], differences),
        text_table(["McNemar", "both right", "only A", "only B", "neither", "test", "p", "p < 0.05"], tests),
        text_table(
            [
                found["group_by"],
                *("mentions", "NIL", "documents"),
                *("r@1 A", "r@1 B", "B - A", "95%"),
                *("acc. A", "acc. B", "B - A", "95%"),
            ],
            rows,
        ),
        f"* = the interval excludes 0. {found['policy']}",
    ]
    return "\n\n".join(parts)


def _cells(one: dict[str, Any]) -> list[str]:
    star = "*" if one["significant"] else " "
    interval = f"[{100 * one['low']:+.1f}, {100 * one['high']:+.1f}]{star}"
    return [f"{100 * one['a']:.1f}", f"{100 * one['b']:.1f}", f"{100 * one['difference']:+.1f}", interval]
