"""Some negatives hard, the rest random."""

import numpy as np

from ...errors import Errors, PelError
from ...registry import registry
from .draw import Draw, DrawRequest, as_sets, not_gold, own_columns
from .pick import hard_each, hard_together, random_each


@registry.pel_negatives("spacy-pel.MixedNegatives.v1")
class MixedNegatives:
    """Mixed-p: p percent hard, the rest uniform over the knowledge base, except the gold entities
    (Wiatrak et al. 2022, section 5.3.1; p = 50). See HardNegatives for the hard ones.

    Args:
        n_negatives: per mention, hard and random ones together; 32 or 64 in the paper.
        percent: share of hard ones, 0 to 100.
        depth: number of nearest entities that the hard ones are drawn from; None = as many as are
            drawn.
        shared: one draw for the whole batch.
        in_batch: the positives of other mentions are negatives too.
    """

    def __init__(
        self,
        *,
        n_negatives: int = 64,
        percent: float = 50.0,
        depth: int | None = None,
        shared: bool = False,
        in_batch: bool = False,
    ):
        if n_negatives < 1:
            raise PelError(Errors.E301.format(name="n_negatives", least=1, value=n_negatives))
        if not 0 <= percent <= 100:
            raise PelError(Errors.E321.format(value=percent))
        if depth is not None and depth < 1:
            raise PelError(Errors.E301.format(name="depth", least=1, value=depth))
        self.n_negatives = n_negatives
        self.percent = percent
        self.depth = depth
        self.shared = shared
        self.in_batch = in_batch

    @property
    def n_hard(self) -> int:
        """Number of hard negatives."""
        return round(self.n_negatives * self.percent / 100)

    @property
    def mined_depth(self) -> int:
        return self.n_hard and (self.depth or self.n_hard)

    def own_hard(self, batch_size: int) -> float:
        """See ``own_hard``."""
        return self.n_hard / batch_size if self.shared else self.n_hard

    def sample(self, request: DrawRequest) -> Draw:
        """Distinct entities: at most n_negatives, or n_negatives for each mention."""
        n_random = self.n_negatives - self.n_hard
        if self.shared:
            hard = hard_together(request, self.n_hard, self.mined_depth)
            rows = np.concatenate([hard, request.rng.integers(request.n_rows, size=n_random)])
            return as_sets(Draw(rows, not_gold(rows, request.gold), self.in_batch))
        both = (hard_each(request, self.n_hard, self.mined_depth), random_each(request, n_random))
        rows = np.concatenate(both, axis=1).ravel()
        mask = not_gold(rows, request.gold) & own_columns(len(request), self.n_negatives)
        return as_sets(Draw(rows, mask, self.in_batch))
