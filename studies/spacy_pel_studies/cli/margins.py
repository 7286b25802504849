"""The command ``research margins``: NIL with several margins of the loss (the paper's Fig. 2 and Table 4)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_pel.cli._output import emit, message, text_table
from spacy_pel.errors import PelError

from ..errors import StudyErrors
from ..markdown import markdown_table
from ._app import research_cli

_HEAD = ("auPR", "P", "R", "r@1", "r@64")


@research_cli.command("margins")
def margins(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for nil_margins.png, .svg, table4.md and margins.json.")
    ],
    run: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=FOLDER",
            help='A run as LABEL=FOLDER, the folder written by evaluate (repeatable). "Pb 0", "Pb 0.01", '
            '"Pb 0.05", "Pb 0.1" and "CE" are shown with the paper\'s results.',
        ),
    ],
) -> None:
    """Compare runs with several margins: the precision-recall curves of NIL and a table.

    auPR, P and R are those of the NIL class, P and R at each run's calibrated threshold. r@1 and r@64 are
    over all mentions, with NIL as one more class: a mention predicted as NIL has this one answer at every k.
    All runs must be evaluations of the same corpus with the same knowledge base.

    Example: spacy-pel research margins metrics/margins --run "Pb 0=metrics/pb0" --run "Pb 0.05=metrics/pb05"
    --run CE=metrics/ce
    """
    from spacy_pel.evaluation.outcomes import read_run
    from spacy_pel.util import atomic_path, write_json

    from ..reports.margins import margin_rows, plot_margins

    runs = {label: read_run(folder) for label, folder in _named(run).items()}
    rows = margin_rows(runs)
    for row in rows:
        if row["threshold"] is None:
            message(
                f"{row['run']} has no NIL threshold, so P, R, r@1 and r@64 are not meaningful. Calibrate its pipeline."
            )
    result = {"n": rows[0]["n"], "n_nil": rows[0]["n_nil"], "runs": rows}
    write_json(out / "margins.json", result)
    plot_margins(runs, rows, out / "nil_margins.png", out / "nil_margins.svg")
    with atomic_path(out / "table4.md") as part:
        part.write_text(_markdown(rows), encoding="utf8")
    message(f"Wrote {out}")
    emit(result, _text)


def _named(runs: list[str]) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for each in runs:
        label, _, folder = (part.strip() for part in each.rpartition("="))  # "δ=0.1" may be in a label
        if not (label and folder) or label in named:
            raise PelError(StudyErrors.E627.format(got=each))
        named[label] = Path(folder)
    return named


def _cells(row: dict[str, Any]) -> list[str]:
    from ..reports.margins import COLUMNS

    ours = [f"{100 * row[name]:.1f}" for name in COLUMNS]
    paper = [f"{100 * row['paper'][name]:.1f}" if row["paper"] else "–" for name in COLUMNS]
    return [row["run"], *ours, *paper]


def _text(result: dict[str, Any]) -> str:
    header = ["NIL | all classes", *_HEAD, *(f"paper {name}" for name in _HEAD)]
    counts = f"{result['n']:,} mentions, {result['n_nil']:,} NIL ({100 * result['n_nil'] / result['n']:.1f}%)"
    return f"{counts}\n{text_table(header, [_cells(row) for row in result['runs']])}"


def _markdown(rows: list[dict[str, Any]]) -> str:
    header = ["run", *_HEAD, *(f"paper: {name}" for name in _HEAD)]
    return markdown_table(header, [_cells(row) for row in rows], numbers=True) + "\n"
