"""Averaging the weights of two trainings that started from the same model (Wortsman et al. 2022, WiSE-FT)."""

import torch

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...util.config import check_range


def average(encoder: BiEncoder, other: BiEncoder, *, weight: float = 0.5) -> BiEncoder:
    """Move the weights of an encoder towards those of another: on the straight line between two models
    trained from the same start, each keeps most of what it has learnt. An encoder fine-tuned on one corpus
    gets back what it has forgotten of others.

    Args:
        encoder: is changed.
        other: reads the same, and has towers of the same shape.
        weight: 0 = ``encoder``, 1 = ``other``.

    Returns:
        ``encoder``.

    Raises:
        PelError: if the weight is not between 0 and 1, or the encoders differ in more than weights.
    """
    check_range("weight", weight, least=0, most=1)
    settings = encoder.settings
    differing = [key for key, value in other.settings.items() if settings.get(key) != value]
    differing += settings.keys() - other.settings.keys()
    if not differing and encoder.tokenizer.get_vocab() != other.tokenizer.get_vocab():
        differing = ["the vocabulary of the tokenizer"]
    mine, theirs = encoder.towers.float().state_dict(), other.towers.state_dict()
    if not differing and {k: v.shape for k, v in mine.items()} != {k: v.shape for k, v in theirs.items()}:
        differing = ["the shapes of the weights"]
    if differing:
        raise PelError(Errors.E351.format(differing=", ".join(differing)))
    with torch.no_grad():
        for key, values in mine.items():  # these share the towers' memory
            if values.is_floating_point():
                values.lerp_(theirs[key].to(values.dtype), weight)
    encoder.changed()
    return encoder
