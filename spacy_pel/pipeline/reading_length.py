"""Reading less (or more) context than the encoder was trained with."""

import copy
from typing import Any

from ..errors import Errors, PelError
from ..types import Encoder


def with_max_length(encoder: Encoder, max_length: int | None) -> Encoder:
    """Change the maximum length of an encoder's mention input. The vectors of entities do not change, so the
    index stays valid, and the given encoder is saved unchanged.

    Args:
        encoder: with its weights.
        max_length: word pieces, special tokens included; None = as in training.

    Returns:
        The given one, or a copy that shares its weights.

    Raises:
        PelError: if the encoder has no template with such a limit.
    """
    if max_length is None:
        return encoder
    template: Any = getattr(encoder, "mention_template", None)
    if not hasattr(template, "max_length"):
        raise PelError(Errors.E504.format(encoder=type(encoder).__name__))
    reader: Any = copy.copy(encoder)
    settings = {**template.settings, "max_length": max_length}
    reader.mention_template = type(template)(**settings)
    return reader
