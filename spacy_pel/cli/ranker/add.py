"""The command ``ranker add``: a pipeline with a ranker in it."""

import shutil
from pathlib import Path
from typing import Annotated, Any, Dict, Optional

import typer

from .._app import ranker_cli
from .._output import JSON, emit, key_values, message


@ranker_cli.command("add")
def ranker_add(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    model: Annotated[
        Path, typer.Argument(help="The ranker's model folder, e.g. training/ranker/model-best.")
    ],
    out: Annotated[Path, typer.Argument(help="The pipeline folder to write.")],
    top_k: Annotated[int, typer.Option(min=1, help="Number of candidates to rerank.")] = 16,
    mix: Annotated[
        Optional[float],
        typer.Option(
            min=0.0, help="Weight of the combiner's score against the ranker's; default: fitted by calibrate."
        ),
    ] = None,
    backend: Annotated[
        Optional[str], typer.Option(help="Inference backend, e.g. torchbackend or openvinobackend.")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Write a copy of a pipeline whose linker reranks its best candidates.

    The copy has no NIL threshold until it is calibrated: that of the pipeline was fitted on other scores.

    Example: spacy-pel ranker add training/pipeline training/ranker/model-best training/pipeline_ranked
    """
    from thinc.api import Config

    from ...rankers import load_ranker
    from ...registry import registry
    from ...util import atomic_path, read_json, write_json
    from .._learned import learned_path
    from .._pipeline import load_pipeline

    ranker: Any = load_ranker(model)
    settings: Dict[str, Any] = {"top_k": top_k, "mix": mix}
    if backend:
        registry.resolve_short("pel_backends", backend)
        names = registry.parts("pel_backends")
        settings["backend"] = {"@pel_backends": names.get(backend, backend)}
    learned = learned_path(pipeline)
    name = learned.parent.name
    with atomic_path(out) as part:
        shutil.copytree(pipeline, part)
        config = Config().from_disk(part / "config.cfg", interpolate=False)
        config["components"][name]["reranker"] = {"@pel_rankers": ranker.registered_name, **settings}
        config.get("initialize", {}).get("components", {}).get(name, {}).pop("reranker_loader", None)
        config.to_disk(part / "config.cfg")
        shutil.rmtree(part / name / "reranker", ignore_errors=True)
        ranker.to_disk(part / name / "reranker")
        saved = read_json(learned)
        saved.pop("calibrated_by_label", None)
        saved["calibrated_threshold"] = None
        saved["nil_model"]["state"] = {}
        saved["reranker"] = {"kind": type(ranker).__name__, "state": {}}
        write_json(part / name / learned.name, saved)
        load_pipeline(part)
    message(f"Wrote {out}. Calibrate it now: spacy-pel calibrate {out} CORPUS.jsonl")
    result = {"pipeline": str(out), "ranker_fingerprint": ranker.fingerprint, **settings}
    emit(result, as_json=as_json, text=key_values)
