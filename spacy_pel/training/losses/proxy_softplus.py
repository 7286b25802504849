"""The proxy-based loss (Wiatrak et al. 2022, Eq. 3), whose pull and push have their zero at one similarity: given, or
solved for on the first batch."""

from typing import Any

import torch
from scipy.optimize import brentq
from torch import Tensor, nn
from torch.nn.functional import softplus

from ...registry import registry
from ...util.arrays import at_least_float32
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


@registry.pel_losses("spacy-pel.ProxySoftplus.v1")
class ProxySoftplus(BalancedLoss):
    """Entities are the proxies of their mentions: the positive is pulled closer, negatives are pushed away.

    ``softplus(-alpha (s+ - margin)) + softplus(logsumexp_j alpha (s-_j + margin))``, which is

        L(m, P) = log(1 + exp(-alpha (s(m,e+) - margin)))
                + log(1 + sum_{e-} exp(alpha (s(m,e-) + margin)))                    (Eq. 3)

    without overflow at alpha = 32. Unlike in a softmax, each term has its own zero: positives
    should exceed the margin and negatives stay below minus the margin, which makes similarities
    comparable between mentions and a NIL threshold possible.

    Similarity: cosine (the paper's choice); for others, tune alpha.

    Args:
        alpha: scale, 32 in the paper.
        margin: delta; 0 in the paper's retrieval tables, 0.01, 0.05, 0.1 in its NIL table.
        offset: the similarity b at which both terms have their zero, 0 in the
            paper: Eq. 3 with s - b instead of s. Sentence encoders give unrelated texts cosines far above 0;
            then all of the gradient pushes negatives at first, and retrieval gets worse before it gets better.
            Both terms start balanced where mean sigma(-alpha (s+ - b)) = mean sigma(alpha lse- - alpha b) with
            lse- = logsumexp_j(alpha s-_j) / alpha (at margin 0): well above the mean cosine, since many negatives
            push together. None = solve for this b on the first batch. See ``BalancedLoss``; an addition to the paper.
    """

    def __init__(self, *, alpha: float = 32.0, margin: float = 0.0, offset: float | None = 0.0):
        super().__init__(offset)
        check_range("alpha", alpha, above=0, most=LARGEST_SCALE)
        check_range("margin", margin, least=0, most=LARGEST_OFFSET)
        self.alpha = alpha
        self.margin = margin

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n mentions.

        Args:
            positives: (n,) similarity of each mention to its entity.
            negatives: (n, m) similarities to other entities.
            mask: (n, m) bool, True = counts as a negative. A row may be all False.

        Returns:
            (n,), float32 or wider.
        """
        # half precision overflows at alpha = 32; float64 is kept
        positives, negatives = at_least_float32(positives), at_least_float32(negatives)
        if self._needs_start:
            scaled = (self.alpha * negatives.double()).masked_fill(~mask, -torch.inf)
            lse = torch.logsumexp(scaled, dim=1, keepdim=True) / self.alpha
            self._start(positives - self.margin, lse + self.margin, self.alpha)
        pull = softplus(-self.alpha * (positives - self.offset - self.margin))
        pushed = self.alpha * (negatives - self.offset + self.margin)
        # the zero is log(1) of Eq. 3: logsumexp over [0, pushed] = softplus(logsumexp(pushed))
        pushed = pushed.masked_fill(~mask, -torch.inf)
        zero = torch.zeros_like(positives).unsqueeze(1)
        push = torch.logsumexp(torch.cat([zero, pushed], dim=1), dim=1)
        return pull + push
