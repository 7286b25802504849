"""Vectors of tokens, for similarities that compare texts token by token."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Union

if TYPE_CHECKING:
    from torch import Tensor


class TokenVectors(NamedTuple):
    """Token vectors of some texts, padded to one length.

    vectors: (..., length, d); the content of padding does not matter.
    mask: (..., length) bool, True = a real token.
    """

    vectors: "Tensor"
    mask: "Tensor"


Encoded = Union["Tensor", TokenVectors]  # what a similarity reads: (n, d), or tokens of n texts


def take(encoded: Encoded, index: "Tensor") -> Encoded:
    """These texts, in the shape of the index, which may have repeats."""
    if isinstance(encoded, TokenVectors):
        return TokenVectors(encoded.vectors[index], encoded.mask[index])
    return encoded[index]


def join(parts: Sequence[Encoded]) -> Encoded:
    """The texts of all parts in order, tokens padded to the longest."""
    import torch
    from torch.nn.functional import pad

    tokens = [part for part in parts if isinstance(part, TokenVectors)]
    if not tokens:
        return torch.cat([part for part in parts if not isinstance(part, TokenVectors)])
    longest = max(part.mask.shape[-1] for part in tokens)
    missing = [longest - part.mask.shape[-1] for part in tokens]
    vectors = [pad(part.vectors, (0, 0, 0, more)) for part, more in zip(tokens, missing, strict=True)]
    masks = [pad(part.mask, (0, more)) for part, more in zip(tokens, missing, strict=True)]
    return TokenVectors(torch.cat(vectors), torch.cat(masks))
