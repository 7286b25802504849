"""The command ``train``: trains a bi-encoder."""

import typer

from ._app import CONFIG_CONTEXT, pel_cli
from ._config import parse_overrides
from ._output import JSON
from ._training import GpuId, OutputFolder, PelConfig, Resume, emit_best


@pel_cli.command("train", context_settings=CONFIG_CONTEXT)
def train(
    ctx: typer.Context,
    config: PelConfig,
    output: OutputFolder,
    gpu_id: GpuId = -1,
    resume: Resume = False,
    as_json: bool = JSON,
) -> None:
    """Train a bi-encoder.

    Settings can be overridden: --section.key value. Writes FOLDER/model-best, model-last, metrics.jsonl,
    steps.jsonl and a checkpoint.

    Example: spacy-pel train configs/pel_minilm.cfg --output training/encoder
    --pel.training.max_epochs 1
    """
    from ..training.retriever.loop import Trainer
    from ..training.retriever.settings import read_settings

    settings = read_settings(config, parse_overrides(ctx.args))
    best = Trainer(settings, output, gpu_id=gpu_id).run(resume=resume)
    emit_best(best, output, as_json=as_json)
