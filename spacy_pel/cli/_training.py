"""What the commands that train have in common: their arguments, and what they print."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ._output import emit, key_values

OutputFolder = Annotated[
    Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder for models and metrics.jsonl.")
]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", metavar="N", help="CUDA device; -1 = CPU.")]
Resume = Annotated[bool, typer.Option("--resume", help="Resume from the checkpoint in the output folder.")]
PelConfig = Annotated[Path, typer.Argument(metavar="CONFIG", help="A config with a [pel] section.")]


def emit_best(best: dict[str, Any], output: Path, *, as_json: bool) -> None:
    """Print the metrics of the best model, and where it is.

    Args:
        best: metrics on dev.
        output: the folder given to the command.
        as_json: print one JSON object.
    """
    emit(
        {"best": best, "model": str(output / "model-best")},
        as_json=as_json,
        text=lambda r: key_values({"model": r["model"], **r["best"]}),
    )
