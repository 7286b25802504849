"""The command ``research sweep``: recall over the values of one numeric setting."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_pel.cli._output import emit, message, text_table
from spacy_pel.errors import PelError

from ..errors import StudyErrors
from ._app import research_cli


@research_cli.command("sweep")
def sweep(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for sweep.png, sweep.svg and sweep.json.")],
    setting: Annotated[str, typer.Option(metavar="NAME", help="The setting's name, e.g. pel.mixing.alpha.")],
    study: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="CONFIG FOLDER", help="A study and its --output; its runs that differ only in the setting are used."
        ),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=FOLDER", help="Instead of a study: VALUE=FOLDER of an evaluation (repeatable)."),
    ] = None,
) -> None:
    """Draw recall@1 and recall@64, with intervals, over the values of a numeric setting.

    Example: spacy-pel research sweep metrics/alpha --setting pel.mixing.alpha
    --study configs/study_amh.cfg training/study_amh
    """
    from spacy_pel.util import write_json

    from ..reports.sweep import plot_sweep, sweep_points
    from ..study.sweep import sweep_lines

    if (study is None) == (not run):
        raise PelError(StudyErrors.E694.format(got="both" if run else "neither"))
    lines = sweep_lines(*study, setting) if study else {"runs": sweep_points(_read(run or []))}
    paths = [output / "sweep.png", output / "sweep.svg"]
    plot_sweep(lines, setting, *paths)
    result: dict[str, Any] = {"setting": setting, "lines": {}}
    for name, points in lines.items():
        result["lines"][name] = [
            {
                "value": point.value,
                "n_runs": point.n_runs,
                **{name: measured._asdict() for name, measured in point.metrics.items()},
            }
            for point in points
        ]
    write_json(output / "sweep.json", result)
    for path in paths:
        message(f"Wrote {path}")
    emit(result, _text)


def _read(runs: list[str]) -> list[tuple[float, Path, dict[str, Any]]]:
    from spacy_pel.evaluation.outcomes import read_metrics

    read: dict[float, tuple[float, Path, dict[str, Any]]] = {}
    for one in runs:
        given, _, folder = (part.strip() for part in one.partition("="))
        try:
            value = float(given)
        except ValueError as err:
            raise PelError(StudyErrors.E694.format(got=repr(one))) from err
        if not folder or value in read or value != value:
            raise PelError(StudyErrors.E694.format(got=repr(one)))
        read[value] = (value, Path(folder), read_metrics(Path(folder)))
    return list(read.values())


def _text(result: dict[str, Any]) -> str:
    from ..reports.sweep import METRICS

    rows = []
    for name, points in result["lines"].items():
        for point in points:
            cells = [name, f"{point['value']:g}", str(point["n_runs"])]
            for metric in METRICS:
                found = point[metric]
                interval = ""
                if found["low"] is not None:
                    interval = f" [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
                cells.append(f"{100 * found['value']:.1f}{interval}")
            rows.append(cells)
    return text_table(["run", result["setting"], "seeds", *METRICS], rows)
