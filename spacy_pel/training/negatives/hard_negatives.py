"""The nearest wrong entities under the current model."""

from ...errors import Errors, PelError
from ...registry import registry
from .draw import Draw, DrawRequest, as_sets, not_gold, own_columns
from .pick import hard_each, hard_together


@registry.pel_negatives("spacy-pel.HardNegatives.v1")
class HardNegatives:
    """The entities whose cards are nearest to a mention, except the gold ones (Wiatrak et al. 2022,
    section 5.3.1). The trainer mines them over the whole knowledge base, on the schedule of
    ``[pel.training.mining]`` (a choice: the paper has "regular intervals"); where a mention has fewer,
    random ones fill the rest.

    Args:
        n_negatives: per mention; 32 or 64 in the paper.
        depth: number of nearest entities that they are drawn from; None = n_negatives. With a
            larger depth the draw changes from batch to batch and has fewer unlabelled synonyms.
        shared: one draw for the whole batch; mentions contribute their nearest in turn.
        in_batch: the positives of other mentions are negatives too.
    """

    def __init__(
        self, *, n_negatives: int = 64, depth: int | None = None, shared: bool = False, in_batch: bool = False
    ):
        if n_negatives < 1:
            raise PelError(Errors.E301.format(name="n_negatives", least=1, value=n_negatives))
        if depth is not None and depth < 1:
            raise PelError(Errors.E301.format(name="depth", least=1, value=depth))
        self.n_negatives = n_negatives
        self.depth = depth
        self.shared = shared
        self.in_batch = in_batch

    @property
    def mined_depth(self) -> int:
        return self.depth or self.n_negatives

    def own_hard(self, batch_size: int) -> float:
        """See ``own_hard``."""
        return self.n_negatives / batch_size if self.shared else self.n_negatives

    def sample(self, request: DrawRequest) -> Draw:
        """Distinct entities: at most n_negatives, or n_negatives for each mention."""
        if self.shared:
            rows = hard_together(request, self.n_negatives, self.mined_depth)
            return as_sets(Draw(rows, not_gold(rows, request.gold), self.in_batch))
        rows = hard_each(request, self.n_negatives, self.mined_depth).ravel()
        mask = not_gold(rows, request.gold) & own_columns(len(request), self.n_negatives)
        return as_sets(Draw(rows, mask, self.in_batch))
