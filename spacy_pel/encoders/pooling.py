"""Reductions of token vectors to one vector: red(.) of Wiatrak et al. 2022, section 3."""

from typing import Literal

from torch import Tensor

Pooling = Literal["mean", "cls"]


def pool(tokens: Tensor, mask: Tensor, how: Pooling) -> Tensor:
    """Reduce token vectors.

    tokens (Tensor): (batch, length, width).
    mask (Tensor): (batch, length), 1 = a real token.
    how (Pooling): "mean" over the real tokens, or the first token.
    RETURNS (Tensor): (batch, width).
    """
    if how == "cls":
        return tokens[:, 0]
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    return (tokens * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)
