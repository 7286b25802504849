"""Opening a bi-encoder on its own, in a ranker or in a pipeline."""

import copy
from pathlib import Path
from typing import Any

from ..errors import Errors, PelError
from ..pipeline.saved import FACTORY, saved_parts

_DEFAULT = Path("assets/pel_medmentions")


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
    found = saved_parts(model, "encoder")
    if len(found) != 1:
        folders = " or ".join(map(str, found))
        raise PelError(
            Errors.E656.format(
                path=model,
                got=f"{len(found)} of them" if found else f"no '{FACTORY}' with an encoder",
                todo=f"Give the folder of one encoder: {folders}." if found else "Choose another model.",
            )
        )
    return found[0]


def default_pipeline(option: str) -> Path:
    """The default pipeline, in the working directory or in this repository.

    Args:
        option: of the command, which names another one.

    Raises:
        PelError: if it is in neither.
    """
    places = [Path(), Path(__file__).parents[2]]
    found = next((place / _DEFAULT for place in places if (place / _DEFAULT / "config.cfg").is_file()), None)
    if found is None:
        raise PelError(Errors.E666.format(path=_DEFAULT, option=option))
    return found


def open_bi_encoder(path: str, *, like: Any | None = None, seed: int = 0) -> Any:
    """Open a bi-encoder.

    Args:
        path: its folder, that of a ranker made of one, or that of a pipeline; with ``like`` also plain
            weights: "package:NAME", "random:SIZES" or a hub id.
        like: provides the templates, pooling and similarity for plain weights.
        seed: random seed of the word vectors of the markers, which plain weights lack.

    Returns:
        With weights.

    Raises:
        PelError: if there is none.
    """
    from ..encoders.bi_encoder import BiEncoder
    from ..encoders.loading import load_encoder

    folder = Path(path)
    if like is not None and not folder.is_dir():
        import torch

        plain = copy.copy(like)
        plain.name, plain.towers, plain.tokenizer = path, None, None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            plain.initialize()
        return plain
    found: Any
    if (folder / "ranker.json").is_file():
        from ..linking.rankers import load_ranker

        found = getattr(load_ranker(folder), "encoder", None)
    else:
        found = load_encoder(encoder_folder(folder))
    if not isinstance(found, BiEncoder):
        raise PelError(Errors.E653.format(path=path, got="it holds another type of model"))
    return found
