"""The command ``ranker train``: a ranker for the candidates of a pipeline."""

from pathlib import Path
from typing import Annotated

import typer

from .._app import CONFIG_CONTEXT, ranker_cli
from .._config import parse_overrides
from .._output import JSON
from .._training import GpuId, OutputFolder, Resume, emit_best


@ranker_cli.command("train", context_settings=CONFIG_CONTEXT)
def ranker_train(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A config with a [ranker] section.")],
    output: OutputFolder,
    gpu_id: GpuId = -1,
    resume: Resume = False,
    as_json: bool = JSON,
) -> None:
    """Train a ranker on the candidates that a pipeline finds.

    Settings can be overridden: --section.key value. Writes FOLDER/model-best, model-last, metrics.jsonl,
    steps.jsonl, a checkpoint and the candidates.

    Example: spacy-pel ranker train configs/ranker_minilm.cfg --output training/ranker
    --ranker.training.limit 2000
    """
    from ...pipeline.gold import query_maker
    from ...pipeline.saved import load_pipeline
    from ...training.ranker.loop import RankTrainer
    from ...training.ranker.settings import read_rank_settings

    settings = read_rank_settings(config, parse_overrides(ctx.args))
    nlp, name, component = load_pipeline(settings.paths.required("pipeline"))
    trainer = RankTrainer(settings, output, linker=component.linker, queries=query_maker(nlp, name=name), gpu_id=gpu_id)
    best = trainer.run(resume=resume)
    emit_best(best, output, as_json=as_json)
