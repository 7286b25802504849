"""Opening a bi-encoder on its own, in a ranker or in a pipeline."""

from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ..pipeline.saved import FACTORY, pipeline_folder, saved_parts

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


def open_bi_encoder(path: Path) -> Any:
    """Open a bi-encoder.

    Args:
        path: its folder, that of a ranker made of one, or that of a pipeline.

    Returns:
        With weights.

    Raises:
        PelError: if there is none.
    """
    from ..encoders.bi_encoder import BiEncoder
    from ..encoders.loading import load_encoder

    encoder: Any
    if (path / "ranker.json").is_file():
        from ..linking.ranker_files import load_ranker

        encoder = getattr(load_ranker(path), "encoder", None)
    else:
        encoder = load_encoder(encoder_folder(path))
    if not isinstance(encoder, BiEncoder):
        raise PelError(Errors.E653.format(path=path, got="it holds another type of model"))
    return encoder
