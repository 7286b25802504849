"""How commands declare arguments and options, and those that several commands share."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Errors, PelError
from ..pipeline.saved import pipeline_folder


def argument(metavar: str, help: str, **settings: Any) -> Any:
    """An argument of a command, e.g. ``OUT``. Settings are typer's."""
    return typer.Argument(metavar=metavar, help=help, **settings)


def option(metavar: str, help: str, *names: str, **settings: Any) -> Any:
    """An option with a value. Names are given if they are not those of the parameter; settings are typer's."""
    return typer.Option(*names, metavar=metavar, help=help, **settings)


def flag(name: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(name, metavar="", help=help)  # typer would write "<bool>"


def check_needs(ctx: typer.Context, owner: str, *names: str) -> None:
    """Check parameters that count for nothing without ``owner``. RAISES (PelError): if one was given."""
    for name in names:
        if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE":
            raise PelError(Errors.E602.format(owner=owner, option=f"--{name.replace('_', '-')}"))


# -- types
Files = list[Path] | None
Texts = list[str] | None

# -- arguments
PIPELINE = "The pipeline: its folder, or the name of an installed package."
Pipeline = Annotated[Path, argument("PIPELINE", PIPELINE, parser=pipeline_folder)]
PipelineOrFolder = Annotated[
    Path, argument("PATH", "A pipeline, or another folder that a command wrote.", parser=pipeline_folder)
]
Model = Annotated[Path, argument("MODEL", "A model folder, or a pipeline, for its encoder.", parser=pipeline_folder)]
KB = Annotated[Path, argument("KB", "The KB folder.")]
KBOrPipeline = Annotated[Path, argument("KB", "The folder of a KB, or a pipeline with one.", parser=pipeline_folder)]
OldKB = Annotated[Path, argument("OLD", "The old KB, or a pipeline with it.", parser=pipeline_folder)]
CurrentKB = Annotated[Path, argument("NEW", "The new KB, or a pipeline with it.", parser=pipeline_folder)]
Corpus = Annotated[Path, argument("CORPUS.jsonl", "The annotated corpus (JSON lines).")]
NewPipeline = Annotated[Path, argument("OUT", "The pipeline folder to write.")]
NewKB = Annotated[Path, argument("OUT", "The KB folder to write; an existing KB is replaced.")]
NewIndex = Annotated[Path, argument("OUT", "The index folder to write.")]

# -- options
Settings = Annotated[
    list[str] | None, option("NAME=VALUE", "A setting of the part, as JSON or text (repeatable).", "--set")
]
Below = Annotated[
    list[str] | None, option("ID", "Only this entity and those below it (is-a), after the other filters (repeatable).")
]
Licence = Annotated[str | None, option("TEXT", "The licence of its names, where the files do not say.")]
InputFormat = Annotated[str, option("NAME", "txt, jsonl, csv, tsv, parquet, pubtator, bioc, auto.", "--format")]
TextColumn = Annotated[str | None, option("NAME", "Column or JSON key of the text. [default: text]", "--text-column")]
IdColumn = Annotated[str | None, option("NAME", "Column or JSON key of the id. [default: id]", "--id-column")]
Resume = Annotated[bool, flag("--resume", "Continue an interrupted run.")]
Overwrite = Annotated[bool, flag("--overwrite", "Replace an existing output.")]
Seed = Annotated[int, option("N", "Random seed.")]
KBForTypes = Annotated[
    Path | None, option("FOLDER", "A KB or pipeline, for names, known ids and types.", parser=pipeline_folder)
]
Backend = Annotated[str | None, option("NAME", "Inference backend, e.g. torchbackend or openvinobackend.")]
Codes = Annotated[str | None, option("NAME", "Precision of the rows: fp32, fp16, int8 or pq.")]
RowBytes = Annotated[int | None, option("N", "Bytes per row (pq). Default: a quarter of the width.", min=1)]
