"""Selecting the hardest negatives under the current model (Cai et al. 2023, Eq. 8)."""

import torch
from torch import Tensor


def hardest(scores: Tensor, mask: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k negatives of each mention that score highest.

    Args:
        scores: (n, m).
        mask: (n, m) bool, True = a negative.
        k: negatives per mention.

    Returns:
        (n, K) positions among the m, and (n, K) bool, False = no such negative;
        K = min(k, m).
    """
    best = scores.detach().masked_fill(~mask, -torch.inf).topk(min(k, scores.shape[1]), dim=1)
    return best.indices, mask.gather(1, best.indices)
