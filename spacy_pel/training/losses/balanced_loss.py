"""Losses whose pull and push have their zero at one similarity: given, or solved for on the first batch."""

from typing import Any

import torch
from scipy.optimize import brentq
from torch import Tensor, nn

from ...util.config import check_range

LARGEST_SCALE = 10_000  # of similarities
LARGEST_OFFSET = 1000  # a similarity; dot products of pretrained encoders reach hundreds


class BalancedLoss(nn.Module):
    """A loss with a pull and a push that have their zero at the same similarity, the offset.

    A number is used as it is. None solves for the balance on the first batch that has a negative, and keeps
    it. Until then the offset is 0, as it always is in the papers: an offset is an addition. A solved one is
    saved in checkpoints, and logged as "offset".

    Args:
        offset: a number, or None.

    Raises:
        PelError: if it is no similarity.
    """

    offset: Any
    started: Tensor

    def __init__(self, offset: float | None):
        super().__init__()
        if offset is not None:
            check_range("offset", offset, least=-LARGEST_OFFSET, most=LARGEST_OFFSET)
            self.offset = offset
            return
        # buffers: fingerprints read plain attributes, and must not change with the value found
        self.register_buffer("offset", torch.tensor(0.0))
        self.register_buffer("started", torch.tensor(False))

    @property
    def metrics(self) -> dict[str, float]:
        """ "offset" for the log, unless it is given."""
        return {"offset": float(self.offset)} if "started" in self._buffers else {}

    @property
    def _needs_start(self) -> bool:
        return "started" in self._buffers and not self.started

    @torch.no_grad()
    def _start(self, positives: Tensor, negatives: Tensor, scale: float) -> None:
        """Solve for the offset; arguments as for ``balance``."""
        root = balance(positives, negatives, scale)
        if root is not None:
            self.offset.fill_(root)
            self.started.fill_(True)


def balance(positives: Tensor, negatives: Tensor, scale: float) -> float | None:
    """Find the offset b at which the positives are pulled as hard as the negatives are pushed:

        mean_i sigma(-scale (s+_i - b)) = mean_i sum_j sigma(scale (s-_ij - b))

    The left side rises with b and the right side falls, so there is one such b.

    Args:
        positives: (n,).
        negatives: (n, k), -inf where there is none.
        scale: above 0.

    Returns:
        None without a negative.
    """
    positives, negatives = (scale * values.detach().double().cpu() for values in (positives, negatives))
    real = negatives[negatives > -torch.inf]
    if not len(real):
        return None

    def excess(offset: float) -> float:
        return float((offset - positives).sigmoid().sum() - (real - offset).sigmoid().sum())

    both = torch.cat([positives, real])
    # 50 below the lowest nothing is pulled, and 50 above the highest nothing is pushed
    return float(brentq(excess, float(both.min()) - 50, float(both.max()) + 50)) / scale
