"""Negatives drawn uniformly from the whole knowledge base."""

from ...errors import Errors, PelError
from ...registry import registry
from .draw import Draw, DrawRequest, not_gold, own_columns


@registry.pel_negatives("spacy-pel.RandomNegatives.v1")
class RandomNegatives:
    """Uniform over the knowledge base, except the gold entities (Wiatrak et al. 2022, section 5.3.1).

    Args:
        n_negatives: per mention; 32 or 64 in the paper.
        shared: one draw for the whole batch, cheaper by a factor of the batch size; False = one
            draw per mention, as in the paper.
        in_batch: the positives of other mentions are negatives too.
    """

    mined_depth = 0

    def __init__(self, *, n_negatives: int = 64, shared: bool = False, in_batch: bool = False):
        if n_negatives < 1:
            raise PelError(Errors.E301.format(name="n_negatives", least=1, value=n_negatives))
        self.n_negatives = n_negatives
        self.shared = shared
        self.in_batch = in_batch

    def sample(self, request: DrawRequest) -> Draw:
        """Draw for a batch. If the knowledge base has fewer entities than are drawn, entities repeat.

        Args:
            request: the batch.

        Returns:
            n_negatives entities, or n_negatives for each mention.
        """
        n_draws = 1 if self.shared else len(request)
        rows = request.rng.integers(request.n_rows, size=self.n_negatives * n_draws)
        mask = not_gold(rows, request.gold)
        if not self.shared:
            mask &= own_columns(len(request), self.n_negatives)
        return Draw(rows, mask, in_batch=self.in_batch)
