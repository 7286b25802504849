"""The command ``align``: trains a bi-encoder on names alone."""

import typer

from ._app import CONFIG_CONTEXT, pel_cli
from ._config import parse_overrides
from ._options import Config, GpuId, Resume, TrainingOutput
from ._output import JSON, emit_best


@pel_cli.command("align", rich_help_panel="Train", context_settings=CONFIG_CONTEXT)
def align(
    ctx: typer.Context,
    config: Config,
    output: TrainingOutput,
    gpu_id: GpuId = -1,
    resume: Resume = False,
    as_json: bool = JSON,
) -> None:
    """Train a bi-encoder on the synonyms of knowledge bases, before train or without annotated text.

    Writes FOLDER/model-best, model-last, metrics.jsonl, steps.jsonl and a checkpoint.

    Example: spacy-pel align configs/align_minilm.cfg --output training/aligned
    --paths.kbs.own corpus/my_kb
    """
    from ..training.alignment.loop import AlignTrainer
    from ..training.alignment.settings import read_align_settings

    settings = read_align_settings(config, parse_overrides(ctx.args))
    best = AlignTrainer(settings, output, gpu_id=gpu_id).run(resume=resume)
    emit_best(best, output, as_json=as_json)
