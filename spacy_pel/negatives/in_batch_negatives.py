"""The other mentions' entities as negatives: nothing more to encode."""

import numpy as np

from ..registry import registry
from .draw import Draw, DrawRequest


@registry.pel_negatives("spacy-pel.InBatchNegatives.v1")
def make_in_batch_negatives() -> "InBatchNegatives":
    """Build an InBatchNegatives."""
    return InBatchNegatives()


class InBatchNegatives:
    """Frequent entities are negatives more often than under uniform sampling; the batch size
    sets their number.
    """

    mined_depth = 0

    def sample(self, request: DrawRequest) -> Draw:
        """RETURNS (Draw): no further entities; the batch's own positives count."""
        return Draw(np.zeros(0, dtype=np.int64), np.zeros((len(request), 0), dtype=bool), in_batch=True)
