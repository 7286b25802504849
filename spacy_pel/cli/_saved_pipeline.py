"""Saved pipelines: the default one, its encoder, and changing it without loading it."""

import shutil
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError, Warnings
from ..pipeline.saved import FACTORY, no_pipeline, pipeline_folder, saved_parts
from ..util import atomic_path, locked, logger, read_json, write_json

_DEFAULT = Path("assets/pel_medmentions")
_PACKAGE = "en_pel_medmentions"


def encoder_folder(model: Path) -> Path:
    """Find the encoder of a model folder or of a saved pipeline.

    Args:
        model: the folder of an encoder, or of a pipeline with one linker that has an encoder.

    Returns:
        The encoder's folder.

    Raises:
        PelError: if it is a pipeline with none or several.
    """
    if (model / "encoder.json").is_file() or not (model / "config.cfg").is_file():
        return model
    folders = saved_parts(model, "encoder")
    if len(folders) == 1:
        return folders[0]
    got, todo = f"no '{FACTORY}' with an encoder", "Choose another model."
    if folders:
        got, todo = f"{len(folders)} of them", f"Give the folder of one encoder: {' or '.join(map(str, folders))}."
    raise PelError(Errors.E656.format(path=model, got=got, todo=todo))


def default_pipeline(option: str) -> Path:
    """The default pipeline: the installed package, or that of the working directory or of this repository.

    Args:
        option: of the command, which names another one.

    Raises:
        PelError: if there is none.
    """
    for folder in (pipeline_folder(_PACKAGE), _DEFAULT, Path(__file__).parents[2] / _DEFAULT):
        if (folder / "config.cfg").is_file():
            return folder
    raise PelError(Errors.E666.format(name=_PACKAGE, path=_DEFAULT, option=option))


def check_fits(pipeline: Path, learned: dict[str, Any], *, source: Path) -> None:
    """Check that a pipeline can use the calibration of another one.

    Args:
        pipeline: a saved pipeline.
        learned: from ``learned_state``.
        source: the saved pipeline that was calibrated.

    Raises:
        PelError: if it is not a pipeline with a linker, or has another encoder (the NIL model depends on
            directions of its vectors), or another kind of generator, combiner, NIL model or reranker.
    """
    expected = _kinds(source, learned)
    for part, kind in _kinds(pipeline, read_learned(pipeline)).items():
        if kind != expected[part]:
            raise PelError(Errors.E661.format(path=pipeline, part=part, expected=expected[part], got=kind))


def store_learned(pipeline: Path, learned: dict[str, Any]) -> None:
    """Replace the calibration of a saved pipeline.

    Args:
        pipeline: a saved pipeline.
        learned: from ``learned_state``.
    """
    from ..pipeline.linker_data import update_linker_folder

    path = learned_path(pipeline)
    with update_linker_folder(path.parent) as part:
        kept = read_json(part / path.name).get("settings")  # set in Python, unlike in the config
        write_json(part / path.name, learned | ({"settings": kept} if kept else {}), indent=None)
    if (value := _components(pipeline)[path.parent.name].get("threshold")) is not None:
        logger.warning(Warnings.W600.format(path=pipeline, value=value))


def copy_pipeline(pipeline: Path, output: Path, learned: dict[str, Any]) -> None:
    """Write a copy of a saved pipeline with another calibration."""
    with atomic_path(output) as part, locked(pipeline):  # nobody replaces the linker's folder meanwhile
        shutil.copytree(pipeline, part)
        store_learned(part, learned)


def learned_path(pipeline: Path) -> Path:
    """The file of a saved pipeline with the calibration of its linker.

    Raises:
        PelError: if it is not a pipeline with a linker.
    """
    from ..pipeline.linker_data import CALIBRATION

    for name, settings in _components(pipeline).items():
        if settings.get("factory") == FACTORY:
            return Path(pipeline) / name / CALIBRATION
    raise PelError(Errors.E651.format(path=pipeline, factory=FACTORY, got=", ".join(_components(pipeline))))


def read_learned(pipeline: Path) -> dict[str, Any]:
    """The calibration of a saved pipeline.

    Raises:
        PelError: if its folder does not agree with its manifest: a changed one would get a new manifest.
    """
    from ..pipeline.linker_data import KIND, VERSION
    from ..util.saved_folder import check_folder

    path = learned_path(pipeline)
    with locked(pipeline):
        check_folder(path.parent, kind=KIND, version=VERSION)
        return read_json(path)  # type: ignore[no-any-return]


def _kinds(pipeline: Path, learned: dict[str, Any]) -> dict[str, str]:
    """Fingerprint of the encoder, and the kind of every calibrated part."""
    from ..pipeline.linker_data import saved_generator_kind

    meta = learned_path(pipeline).parent / "index" / "meta.json"
    with locked(pipeline):
        return {
            "encoder": str(read_json(meta).get("encoder_fingerprint")) if meta.is_file() else "",
            "generator": saved_generator_kind(learned),
            **{part: learned[part]["kind"] for part in ("combiner", "nil_model")},
            "reranker": (learned.get("reranker") or {}).get("kind", "null"),
        }


def _components(pipeline: Path) -> dict[str, dict[str, Any]]:
    from ..util.config import load_config

    config = Path(pipeline) / "config.cfg"
    if not config.is_file():
        raise no_pipeline(Path(pipeline))
    return load_config(config, {}).get("components", {})
