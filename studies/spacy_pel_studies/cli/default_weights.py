"""The command ``research default-weights``: the weights of a combiner before calibration."""

from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_pel.cli._output import emit, message
from spacy_pel.errors import PelError

from ..errors import StudyErrors
from ._app import research_cli


@research_cli.command("default-weights")
def default_weights(
    output: Annotated[
        Path, typer.Argument(metavar="OUT", help="Folder for default_weights.json and default_weights.md.")
    ],
    task: Annotated[
        list[str],
        typer.Option(
            metavar="WORLD=PIPELINE,CORPUS",
            help="WORLD=PIPELINE,CORPUS: a pipeline and JSON lines with mentions, no test data (repeat it; "
            "tasks of one world are left out together; at least two worlds).",
        ),
    ],
    seed: Annotated[int, typer.Option(metavar="N", help="Random seed of the mentions that are drawn.")] = 0,
) -> None:
    """Fit the default weights of LinearCombiner, and measure them on each world, left out in turn.

    Example: spacy-pel research default-weights metrics/default_weights
    --task CL=training/worlds/CL/pipeline,corpus/worlds/CL/train.jsonl
    --task MONDO=training/worlds/MONDO/pipeline,corpus/worlds/MONDO/train.jsonl
    """
    from spacy_pel.util import atomic_path, write_json

    from ..worlds.default_weights import fit_default_weights, read_task
    from ..worlds.default_weights_tables import as_markdown

    given = [_task(one) for one in task]
    if len({world for world, _, _ in given}) < 2:
        raise PelError(StudyErrors.E245.format(got=" ".join(task)))
    tasks = [read_task(f"{world}, {path}", world, path, corpus) for world, path, corpus in given]
    report: dict[str, Any] = fit_default_weights(tasks, seed=seed)
    write_json(output / "default_weights.json", report)
    with atomic_path(output / "default_weights.md") as part:
        part.write_text(as_markdown(report), encoding="utf8")
    message(f"Wrote {output}")
    emit(report, as_markdown)


def _task(given: str) -> "tuple[str, Path, Path]":
    world, _, paths = given.partition("=")
    pipeline, _, corpus = paths.partition(",")
    if not (world and pipeline and corpus):
        raise PelError(StudyErrors.E245.format(got=given))
    return world, Path(pipeline), Path(corpus)
