"""Opening a bi-encoder on its own, in a ranker or in a pipeline."""

import copy
from pathlib import Path
from typing import Any, Optional

from ..errors import Errors, PelError
from ._pipeline import FACTORY, saved_part


def open_bi_encoder(path: str, *, like: Optional[Any] = None, seed: int = 0) -> Any:
    """Open a bi-encoder.

    path (str): its folder, that of a ranker made of one, or that of a pipeline; with ``like`` also plain
        weights: "package:NAME", "random:SIZES" or a hub id.
    like (Optional[BiEncoder]): provides the templates, pooling and similarity for plain weights.
    seed (int): random seed of the word vectors of the markers, which plain weights lack.
    RETURNS (BiEncoder): with weights.
    RAISES (PelError): if there is none.
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
        from ..rankers import load_ranker

        found = getattr(load_ranker(folder), "encoder", None)
    else:
        in_pipeline = (folder / "config.cfg").is_file()
        saved = saved_part(folder, "encoder") if in_pipeline else folder
        if saved is None:
            raise PelError(Errors.E653.format(path=folder, got=f"it has no '{FACTORY}' with an encoder"))
        found = load_encoder(saved)
    if not isinstance(found, BiEncoder):
        raise PelError(Errors.E653.format(path=path, got="it holds another type of model"))
    return found
