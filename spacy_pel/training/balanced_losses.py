"""Losses ``loss(positives (n,), negatives (n, m), mask (n, m)) -> (n,)`` of similarities, in which a pull and a push
have their zero at one similarity: given, solved for on the first batch, or learned."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from ..errors import Errors, PelError
from ..registry import registry
from ..util.arrays import at_least_float32
from ..util.config import check_range

LARGEST_SCALE = 10_000  # of similarities
LARGEST_OFFSET = 1000  # a similarity; dot products of pretrained encoders reach hundreds
Offset = float | Literal["learned"] | None

_BISECTIONS = 100  # more than float64 can tell apart


class BalancedLoss(nn.Module):
    """A loss with a pull and a push that have their zero at the same similarity, the offset.

    A number is used as it is. None solves for the balance on the first batch that has a negative, and keeps
    it. "learned" starts there, too, and then is a parameter with the rate ``proxy_learn_rate``. Until then
    the offset is 0, as it always is in the papers: an offset is an addition. A solved or learned offset is
    saved in checkpoints, and logged as "offset".

    Args:
        offset: a number, None or "learned".

    Raises:
        PelError: if it is another text, or no similarity.
    """

    offset: Any
    started: Tensor

    def __init__(self, offset: Offset):
        super().__init__()
        if isinstance(offset, str) and offset != "learned":
            raise PelError(Errors.E333.format(value=offset))
        if isinstance(offset, (int, float)):
            check_range("offset", offset, least=-LARGEST_OFFSET, most=LARGEST_OFFSET)
            self.offset = offset
            return
        # a setting of its own: fingerprints read plain attributes, and must not change with the value found
        self.offset_from = offset or "balance"
        if offset == "learned":
            self.offset = nn.Parameter(torch.tensor(0.0))
        else:
            self.register_buffer("offset", torch.tensor(0.0))
        self.register_buffer("started", torch.tensor(False))

    @property
    def metrics(self) -> dict[str, float]:
        """ "offset" for the log, unless it is given."""
        return {"offset": float(self.offset.detach())} if "started" in self._buffers else {}

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

    The left side rises with b and the right side falls, so there is one such b. It is found by bisection
    in float64.

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
    low, high = float(both.min()) - 50, float(both.max()) + 50
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return (low + high) / 2 / scale


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
            push together. None = solve for this b on the first batch; "learned" = start there, and
            train b. See ``BalancedLoss``; an addition to the paper.
    """

    def __init__(self, *, alpha: float = 32.0, margin: float = 0.0, offset: Offset = 0.0):
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


@registry.pel_losses("spacy-pel.BinaryCrossEntropy.v1")
class BinaryCrossEntropy(BalancedLoss):
    """Each similarity is the logit of "these two belong together", independently of the others:

        L(m, P) = -log sigma(s(m,e+)) - sum_{e-} log(1 - sigma(s(m,e-)))            (Eq. 11)

    In the paper the loss of AMH alone; its other negatives have CrossEntropy over the batch (Eq. 7).

    Every negative that scores above 0 contributes about the same gradient, however many there are; with
    few but hard ones, as from AdaptiveMixup, positive and negatives are balanced.

    Similarity: the dot product or SumOfMax (the paper's choices).

    Args:
        scale: multiplies the similarities; 1 in the paper.
        offset: the similarity b at which logits have their zero, 0 in the paper:
            scale (s - b) replaces s. Dot products of pretrained encoders lie far above 0 for unrelated texts too.
            None = solve for the b at which the first batch pulls as hard as it pushes,
            mean sigma(-scale (s+ - b)) = mean sum_j sigma(scale (s-_j - b)); "learned" = start there, and
            train b. See ``BalancedLoss``; an addition to the paper.
    """

    def __init__(self, *, scale: float = 1.0, offset: Offset = 0.0):
        super().__init__(offset)
        check_range("scale", scale, above=0, most=LARGEST_SCALE)
        self.scale = scale

    def forward(self, positives: Tensor, negatives: Tensor, mask: Tensor) -> Tensor:
        """Losses of n mentions; arguments as for ProxySoftplus.

        Returns:
            (n,), float32 or wider.
        """
        # -log sigma(x) = softplus(-x) and -log(1 - sigma(x)) = softplus(x): nothing overflows
        positives, negatives = at_least_float32(positives), at_least_float32(negatives)
        if self._needs_start:
            self._start(positives, negatives.masked_fill(~mask, -torch.inf), self.scale)
        pull = softplus(-self.scale * (positives - self.offset))
        pushed = self.scale * (negatives - self.offset)
        return pull + softplus(pushed.masked_fill(~mask, -torch.inf)).sum(dim=1)
