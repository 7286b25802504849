"""Reductions of token vectors to one vector: red(.) of Wiatrak et al. 2022, section 3."""

from typing import Literal, Tuple

import torch
from torch import Tensor

Pooling = Literal["mean", "cls", "mention", "markers"]


def pool(tokens: Tensor, mask: Tensor, how: Pooling) -> Tensor:
    """Reduce token vectors.

    tokens (Tensor): (batch, length, width).
    mask (Tensor): (batch, length), 1 = a token that counts.
    how (Pooling): the first token for "cls", else the mean over the mask.
    RETURNS (Tensor): (batch, width).
    """
    if how == "cls":
        return tokens[:, 0]
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    return (tokens * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1.0)


def mention_mask(ids: Tensor, mask: Tensor, markers: Tuple[int, int]) -> Tensor:
    """Which tokens lie between the markers, the markers excluded?

    The mean over a whole window is mostly context: before training it finds the right entity
    for a quarter of MedMentions' mentions, the mean over the mention for two thirds. Context
    still enters through attention.

    ids (Tensor): (batch, length).
    mask (Tensor): (batch, length), 1 = a real token.
    markers (Tuple[int, int]): ids of the start and the end marker.
    RETURNS (Tensor): (batch, length); the real tokens for a sequence without markers, such as a card.
    """
    start, end = ids == markers[0], ids == markers[1]
    inside = (start.cumsum(dim=1) > end.cumsum(dim=1)) & ~start
    return torch.where(inside.any(dim=1, keepdim=True), inside.to(mask.dtype), mask)


def marker_mask(ids: Tensor, mask: Tensor, markers: Tuple[int, int]) -> Tensor:
    """Which tokens are the markers themselves (Le & Nguyen 2023, section 3.2.1)?

    ids, mask, markers: as for ``mention_mask``.
    RETURNS (Tensor): (batch, length); the real tokens for a sequence without markers.
    """
    marked = (ids == markers[0]) | (ids == markers[1])
    return torch.where(marked.any(dim=1, keepdim=True), marked.to(mask.dtype), mask)
