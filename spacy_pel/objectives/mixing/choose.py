"""Choosing: the negatives that the present model finds hardest (Cai et al. 2023, Eq. 8)."""

from typing import Tuple

import torch
from torch import Tensor


def hardest(scores: Tensor, mask: Tensor, k: int) -> Tuple[Tensor, Tensor]:
    """The k negatives of each mention that score highest.

    scores (Tensor): (n, m).
    mask (Tensor): (n, m) bool, True = a negative.
    k (int): how many.
    RETURNS (Tuple[Tensor, Tensor]): (n, K) places among the m, and (n, K) bool, False = there is none;
        K is k, or m where there are fewer entities.
    """
    best = scores.detach().masked_fill(~mask, -torch.inf).topk(min(k, scores.shape[1]), dim=1)
    return best.indices, mask.gather(1, best.indices)
