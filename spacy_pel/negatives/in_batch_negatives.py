"""The other mentions' entities as negatives: nothing more to encode."""

from typing import Sequence

import numpy as np
from numpy.typing import NDArray

from ..registry import registry
from .draw import Draw


@registry.pel_negatives("spacy-pel.InBatchNegatives.v1")
def make_in_batch_negatives() -> "InBatchNegatives":
    """Build an InBatchNegatives."""
    return InBatchNegatives()


class InBatchNegatives:
    """Frequent entities are negatives more often than under uniform sampling; the batch size
    sets their number.
    """

    def sample(self, gold: Sequence[NDArray[np.int64]], n_rows: int, rng: np.random.Generator) -> Draw:
        """RETURNS (Draw): no further entities; the batch's own positives count."""
        return Draw(np.zeros(0, dtype=np.int64), np.zeros((len(gold), 0), dtype=bool), in_batch=True)
