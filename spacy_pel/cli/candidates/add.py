"""The command ``candidates add``: a pipeline that finds its candidates in another way."""

import shutil
from pathlib import Path
from typing import Annotated, Any, Dict, Literal, Optional

import typer

from ...errors import Errors, PelError
from .._app import candidates_cli
from .._output import JSON, emit, key_values, message


@candidates_cli.command("add")
def candidates_add(
    pipeline: Annotated[Path, typer.Argument(help="The pipeline folder.")],
    generator: Annotated[
        Path,
        typer.Argument(help="The generator's folder, built from the pipeline's KB by `candidates build`."),
    ],
    out: Annotated[Path, typer.Argument(help="The pipeline folder to write.")],
    ensemble: Annotated[
        Optional[Literal["rrf", "union"]],
        typer.Option(
            help="Combine it with the pipeline's own vector retrieval, by reciprocal-rank fusion or by the "
            "better rank. Default: replace it."
        ),
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Write a copy of a pipeline whose linker uses a candidate generator.

    Encoder and index are kept only if vectors are used. The copy has the default weights of the evidence
    and no NIL threshold until it is calibrated: those of the pipeline were fitted on other candidates.

    Example: spacy-pel candidates add training/pipeline training/tfidf training/pipeline_tfidf --ensemble rrf
    """
    from thinc.api import Config

    from ...candidates.bi_encoder import BiEncoderCandidates
    from ...candidates.ensemble import EnsembleCandidates
    from ...candidates.loading import load_generator
    from ...kb import KnowledgeBase
    from ...pipeline.calibration import generator_kind
    from ...util import atomic_path, read_json, write_json
    from .._learned import learned_path
    from .._pipeline import load_pipeline

    learned = learned_path(pipeline)
    name = learned.parent.name
    found: Any = load_generator(generator, kb=KnowledgeBase.from_disk(learned.parent / "kb"))
    if ensemble:
        parts = {"bi_encoder": BiEncoderCandidates(), "added": found}
        found = EnsembleCandidates(generators=parts, how=ensemble)
    with atomic_path(out) as part:
        shutil.copytree(pipeline, part)
        config = Config().from_disk(part / "config.cfg", interpolate=False)
        settings = config["components"][name]
        if found.needs_encoder and settings.get("encoder") is None:
            raise PelError(Errors.E458.format(path=pipeline, generator=found.registered_name))
        settings["generator"] = {"@pel_candidates": found.registered_name, **found.settings}
        loaders = config.get("initialize", {}).get("components", {}).get(name, {})
        loaders.pop("generator_loader", None)
        if not found.needs_encoder:
            for kind in ("encoder", "index"):
                settings[kind] = None
                loaders.pop(f"{kind}_loader", None)
                shutil.rmtree(part / name / kind, ignore_errors=True)
        config.to_disk(part / "config.cfg")
        found.to_disk(part / name / "generator")
        write_json(part / name / learned.name, _uncalibrated(read_json(learned), generator_kind(found)))
        load_pipeline(part)
    message(f"Wrote {out}. Calibrate it now: spacy-pel calibrate {out} CORPUS.jsonl")
    result = {"pipeline": str(out), "generator": generator_kind(found), "encoder": found.needs_encoder}
    emit(result, as_json=as_json, text=key_values)


def _uncalibrated(saved: Dict[str, Any], generator: str) -> Dict[str, Any]:
    """RETURNS (Dict[str, Any]): the same without what calibration fitted."""
    names = [name for name in ("combiner", "nil_model", "reranker") if name in saved]
    parts: Dict[str, Any] = {name: {**saved[name], "state": {}} for name in names}
    return {"calibrated_threshold": None, **parts, "generator": {"kind": generator}}
