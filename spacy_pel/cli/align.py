"""The command ``align``: trains a bi-encoder on names alone."""

from pathlib import Path
from typing import Annotated

import typer

from ._app import CONFIG_CONTEXT, pel_cli
from ._config import parse_overrides
from ._output import JSON, emit, key_values


@pel_cli.command("align", context_settings=CONFIG_CONTEXT)
def align(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(help="A config with a [pel] section.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for models and metrics.jsonl.")],
    gpu_id: Annotated[int, typer.Option("--gpu-id", "-g", help="CUDA device; -1 = CPU.")] = -1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume from the checkpoint in the output folder.")
    ] = False,
    as_json: bool = JSON,
) -> None:
    """Train a bi-encoder on the synonyms of knowledge bases, before train or without annotated text.

    Writes OUTPUT/model-best, model-last, metrics.jsonl, steps.jsonl and a checkpoint.

    Example: spacy-pel align configs/align_minilm.cfg --output training/aligned
    --paths.kbs.own corpus/my_kb
    """
    from ..training.alignment.loop import AlignTrainer
    from ..training.alignment.settings import read_align_settings

    settings = read_align_settings(config, parse_overrides(ctx.args))
    best = AlignTrainer(settings, output, gpu_id=gpu_id).run(resume=resume)
    emit(
        {"best": best, "model": str(output / "model-best")},
        as_json=as_json,
        text=lambda r: key_values({"model": r["model"], **r["best"]}),
    )
