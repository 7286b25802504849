"""The commands of the group ``ranker``."""

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from ...cli._app import CONFIG_CONTEXT, command_group
from ...cli._options import Backend, GpuId, NewPipeline, Pipeline, Resume, TrainingOutput, argument, option
from ...cli._output import JSON, emit, emit_best, key_values
from ...cli._settings import parse_overrides

ranker_cli = command_group("ranker", "Train rankers and add them to pipelines.", panel="Train")


@ranker_cli.command("train", context_settings=CONFIG_CONTEXT)
def ranker_train(
    ctx: typer.Context,
    config: Annotated[Path, argument("CONFIG", "A config with a [ranker] section.")],
    output: TrainingOutput,
    gpu_id: GpuId = -1,
    resume: Resume = False,
    as_json: bool = JSON,
) -> None:
    """Train a ranker on the candidates that a pipeline finds.

    Override settings with --section.key VALUE. Writes FOLDER/model-best, model-last, metrics.jsonl, steps.jsonl,
    a checkpoint and the candidates.

    Example: spacy-pel ranker train configs/ranker_minilm.cfg --output training/ranker --ranker.training.limit 2000
    """
    from ...pipeline.gold import query_maker
    from ...pipeline.saved import load_pipeline
    from ..ranker.loop import RankTrainer
    from ..ranker.settings import read_rank_settings

    settings = read_rank_settings(config, parse_overrides(ctx.args))
    nlp, name, component = load_pipeline(settings.paths.required("pipeline"))
    trainer = RankTrainer(settings, output, linker=component.linker, queries=query_maker(nlp, name=name), gpu_id=gpu_id)
    best = trainer.run(resume=resume)
    emit_best(best, output, as_json=as_json)


@ranker_cli.command("add")
def ranker_add(
    pipeline: Pipeline,
    model: Annotated[Path, argument("MODEL", "The ranker, e.g. training/ranker/model-best.")],
    out: NewPipeline,
    top_k: Annotated[int, option("N", "Number of candidates to rerank.", min=1)] = 16,
    mix: Annotated[float | None, option("NUMBER", "Weight of the combiner's score. Default: fitted.", min=0.0)] = None,
    backend: Backend = None,
    as_json: bool = JSON,
) -> None:
    """Write a copy of a pipeline whose linker reranks its best candidates.

    Until you calibrate the copy, it has no NIL threshold and no calibrated P(right): those of the pipeline were
    fitted on other scores.

    Example: spacy-pel ranker add training/pipeline training/ranker/model-best training/pipeline_ranked
    """
    from ...cli._saved_pipeline import changed_copy
    from ...linking.reranker import load_ranker
    from ...registry import registry

    ranker: Any = load_ranker(model)
    settings: dict[str, Any] = {"top_k": top_k, "mix": mix}
    if backend:
        registry.resolve_short("pel_backends", backend)
        settings["backend"] = {"@pel_backends": registry.parts("pel_backends").get(backend, backend)}
    with changed_copy(pipeline, out) as copy:
        copy.settings["reranker"] = {"@pel_rankers": ranker.registered_name, **settings}
        copy.loaders.pop("reranker_loader", None)
        shutil.rmtree(copy.folder / "reranker", ignore_errors=True)
        ranker.to_disk(copy.folder / "reranker")
        copy.uncalibrate("nil_model")
        copy.learned["reranker"] = {"kind": type(ranker).__name__, "state": {}}
    result = {"pipeline": str(out), "ranker_fingerprint": ranker.fingerprint, **settings}
    emit(result, as_json=as_json, text=key_values)
