"""The command ``candidates add``: a pipeline with another candidate generator."""

import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ...errors import Errors, PelError
from .._app import candidates_cli
from .._output import JSON, emit, key_values


@candidates_cli.command("add")
def candidates_add(
    pipeline: Annotated[Path, typer.Argument(metavar="PIPELINE", help="The pipeline folder.")],
    generator: Annotated[
        Path,
        typer.Argument(
            metavar="GENERATOR", help="The generator's folder, built from the pipeline's KB by `candidates build`."
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The pipeline folder to write.")],
    ensemble: Annotated[
        Literal["rrf", "union"] | None,
        typer.Option(
            help="Combine it with the pipeline's own vector retrieval, by reciprocal-rank fusion or by the "
            "better rank. Default: replace it."
        ),
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Write a copy of a pipeline whose linker uses a candidate generator.

    Encoder and index are kept only if vectors are used. Until it is calibrated, the copy has default evidence
    weights, the NIL model's defaults, if it has some, and no calibrated P(right): those of the pipeline were
    fitted on other candidates.

    Example: spacy-pel candidates add training/pipeline training/tfidf training/pipeline_tfidf --ensemble rrf
    """
    from ...candidates.bi_encoder import BiEncoderCandidates
    from ...candidates.ensemble import EnsembleCandidates
    from ...candidates.loading import load_generator
    from ...kb import KnowledgeBase
    from ...pipeline.calibration import generator_kind
    from .._saved_pipeline import changed_copy, learned_path

    kb = KnowledgeBase.from_disk(learned_path(pipeline).parent / "kb")
    found: Any = load_generator(generator, kb=kb)
    if ensemble:
        parts = {"bi_encoder": BiEncoderCandidates(), "added": found}
        found = EnsembleCandidates(generators=parts, how=ensemble)
    with changed_copy(pipeline, out) as copy:
        if found.needs_encoder and copy.settings.get("encoder") is None:
            raise PelError(Errors.E458.format(path=pipeline, generator=found.registered_name))
        copy.settings["generator"] = {"@pel_candidates": found.registered_name, **found.settings}
        copy.loaders.pop("generator_loader", None)
        if not found.needs_encoder:
            for kind in ("encoder", "index"):
                copy.settings[kind] = None
                copy.loaders.pop(f"{kind}_loader", None)
                shutil.rmtree(copy.folder / kind, ignore_errors=True)
        found.to_disk(copy.folder / "generator")
        copy.learned["generator"] = {"kind": generator_kind(found)}
        copy.uncalibrate("combiner", "nil_model", "reranker")
    result = {"pipeline": str(out), "generator": generator_kind(found), "encoder": found.needs_encoder}
    emit(result, as_json=as_json, text=key_values)
