"""An encoder with the settings of another one and with plain weights, such as those that it was trained from."""

import copy
from pathlib import Path
from typing import Any

import torch

from spacy_pel.training.commands.train import open_bi_encoder


def with_plain_weights(weights: str, like: Any, *, seed: int = 0) -> Any:
    """Open a bi-encoder, or make one of plain weights.

    Args:
        weights: the folder of an encoder or of a pipeline, "package:NAME", "random:SIZES" or a hub id.
        like: provides the templates, pooling and similarity for plain weights.
        seed: random seed of the word vectors of the markers, which plain weights lack.

    Raises:
        PelError: if there is none.
    """
    if Path(weights).is_dir():
        return open_bi_encoder(Path(weights))
    plain = copy.copy(like)
    plain.name, plain.towers, plain.tokenizer = weights, None, None
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        plain.initialize()
    return plain
