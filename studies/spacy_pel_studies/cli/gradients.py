"""The command ``research gradients``: the gradient norms of trainings in one figure."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_pel.cli._output import emit, message, text_table
from spacy_pel.errors import PelError

from ..errors import StudyErrors
from ._app import research_cli


@research_cli.command("gradients")
def gradients(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for gradients.png and gradients.svg.")],
    run: Annotated[
        list[str],
        typer.Option(metavar="NAME=FOLDER", help="A training as NAME=FOLDER, drawn as one line (repeatable)."),
    ],
    window: Annotated[int, typer.Option(metavar="N", min=1, help="Steps to average.")] = 100,
) -> None:
    """Draw the smoothed l2 norm of the gradient per step and print its mean, standard deviation and maximum.

    Example: spacy-pel research gradients figures --run "Pb random=training/a" --run "CE random=training/b"
    """
    from ..reports.gradient_norms import plot_norms, read_norms, summary

    runs = {name: read_norms(folder) for name, folder in _named(run).items()}
    paths = [output / f"gradients.{suffix}" for suffix in ("png", "svg")]
    plot_norms(runs, paths, window=window)
    for path in paths:
        message(f"Wrote {path}")
    result: dict[str, Any] = {name: summary(one.norms)._asdict() for name, one in runs.items()}
    emit({"runs": result, "window": window}, _text)


def _named(runs: list[str]) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for one in runs:
        name, equals, folder = (part.strip() for part in one.partition("="))
        if not (name and equals and folder) or name in named:
            raise PelError(StudyErrors.E627.format(got=one))
        named[name] = Path(folder)
    return named


def _text(result: dict[str, Any]) -> str:
    rows = [
        [name, f"{one['n']:,}", f"{one['n_not_finite']:,}", *(_cell(one[key]) for key in ("mean", "std", "max"))]
        for name, one in result["runs"].items()
    ]
    return text_table(["gradient norm", "steps", "not finite", "mean", "std", "max"], rows)


def _cell(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}"
