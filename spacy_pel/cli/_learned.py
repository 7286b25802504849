"""Storing a calibration in a saved pipeline without touching its other files."""

import shutil
from pathlib import Path
from typing import Any, Dict

from ..errors import Errors, PelError, Warnings
from ..util import atomic_path, logger, read_json, write_json
from ._pipeline import FACTORY

_FILE = "cfg.json"  # in the component's folder, see pipeline/learned.py


def check_fits(pipeline: Path, learned: Dict[str, Any], *, source: Path) -> None:
    """Check that a pipeline can use what another one learned.

    pipeline (Path): a saved pipeline.
    learned (Dict[str, Any]): from ``learned_state``.
    source (Path): the saved pipeline that learned it.
    RAISES (PelError): if it is no pipeline with a linker, or has another encoder (the NIL model knows
        directions of its vectors), or another kind of generator, combiner, NIL model or reranker.
    """
    from ..pipeline.calibration import saved_generator_kind

    encoders = [_encoder_of(source), _encoder_of(pipeline)]
    if encoders[0] != encoders[1]:
        raise PelError(
            Errors.E661.format(path=pipeline, part="encoder", expected=encoders[0], got=encoders[1])
        )
    saved = read_json(learned_path(pipeline))
    generators = [saved_generator_kind(state) for state in (learned, saved)]
    if generators[0] != generators[1]:
        raise PelError(
            Errors.E661.format(path=pipeline, part="generator", expected=generators[0], got=generators[1])
        )
    for part in ("combiner", "nil_model"):
        if saved[part]["kind"] != learned[part]["kind"]:
            raise PelError(
                Errors.E661.format(
                    path=pipeline, part=part, expected=learned[part]["kind"], got=saved[part]["kind"]
                )
            )
    rankers = [(state.get("reranker") or {}).get("kind", "null") for state in (learned, saved)]
    if rankers[0] != rankers[1]:
        raise PelError(
            Errors.E661.format(path=pipeline, part="reranker", expected=rankers[0], got=rankers[1])
        )


def store_learned(pipeline: Path, learned: Dict[str, Any]) -> None:
    """Replace what a saved pipeline has learned, in one step.

    pipeline (Path): a saved pipeline.
    learned (Dict[str, Any]): from ``learned_state``.
    """
    from ..pipeline.linker_data import update_linker_folder

    path = learned_path(pipeline)
    with update_linker_folder(path.parent):
        write_json(path, learned)
    settings = _components(pipeline)[path.parent.name]
    if settings.get("threshold") is not None:
        logger.warning(Warnings.W600.format(path=pipeline, value=settings["threshold"]))


def copy_pipeline(pipeline: Path, output: Path, learned: Dict[str, Any]) -> None:
    """Write a copy of a saved pipeline that has learned something else."""
    with atomic_path(output) as part:
        shutil.copytree(pipeline, part)
        store_learned(part, learned)


def learned_path(pipeline: Path) -> Path:
    """RETURNS (Path): the file of a saved pipeline that holds what its linker has learned.

    RAISES (PelError): if it is no pipeline with a linker.
    """
    for name, settings in _components(pipeline).items():
        if settings.get("factory") == FACTORY:
            return Path(pipeline) / name / _FILE
    raise PelError(Errors.E651.format(path=pipeline, factory=FACTORY, got=", ".join(_components(pipeline))))


def _encoder_of(pipeline: Path) -> str:
    """RETURNS (str): the fingerprint of the encoder that the pipeline's index was made with."""
    meta = learned_path(pipeline).parent / "index" / "meta.json"
    return str(read_json(meta).get("encoder_fingerprint")) if meta.is_file() else ""


def _components(pipeline: Path) -> Dict[str, Dict[str, Any]]:
    from ..util.config import load_config

    return load_config(Path(pipeline) / "config.cfg", {}).get("components", {})
