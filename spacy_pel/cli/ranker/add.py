"""The command ``ranker add``: a pipeline with a ranker."""

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import ranker_cli
from .._output import JSON, emit, key_values


@ranker_cli.command("add")
def ranker_add(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline folder.")],
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The ranker's model folder, e.g. training/ranker/model-best.")
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The pipeline folder to write.")],
    top_k: Annotated[int, typer.Option(metavar="N", min=1, help="Number of candidates to rerank.")] = 16,
    mix: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            min=0.0,
            help="Weight of the combiner's score against the ranker's; default: fitted by calibrate.",
        ),
    ] = None,
    backend: Annotated[
        str | None, typer.Option(metavar="NAME", help="Inference backend, e.g. torchbackend or openvinobackend.")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Write a copy of a pipeline whose linker reranks its best candidates.

    Until it is calibrated, the copy has no NIL threshold and no calibrated P(right): the pipeline's were
    fitted on other scores.

    Example: spacy-pel ranker add training/pipeline training/ranker/model-best training/pipeline_ranked
    """
    from ...linking.rankers import load_ranker
    from ...registry import registry
    from .._saved_pipeline import changed_copy

    ranker: Any = load_ranker(model)
    settings: dict[str, Any] = {"top_k": top_k, "mix": mix}
    if backend:
        registry.resolve_short("pel_backends", backend)
        names = registry.parts("pel_backends")
        settings["backend"] = {"@pel_backends": names.get(backend, backend)}
    with changed_copy(pipeline, out) as copy:
        copy.settings["reranker"] = {"@pel_rankers": ranker.registered_name, **settings}
        copy.loaders.pop("reranker_loader", None)
        shutil.rmtree(copy.folder / "reranker", ignore_errors=True)
        ranker.to_disk(copy.folder / "reranker")
        copy.uncalibrate("nil_model")
        copy.learned["reranker"] = {"kind": type(ranker).__name__, "state": {}}
    result = {"pipeline": str(out), "ranker_fingerprint": ranker.fingerprint, **settings}
    emit(result, as_json=as_json, text=key_values)
