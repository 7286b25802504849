"""The entities of the other mentions as negatives, at no extra cost."""

import numpy as np

from ...registry import registry
from .draw import Draw, DrawRequest


@registry.pel_negatives("spacy-pel.InBatchNegatives.v1")
class InBatchNegatives:
    """The positives of the other mentions in the batch. Their number follows from the batch size, and
    frequent entities are drawn more often than under uniform sampling.
    """

    mined_depth = 0

    def sample(self, request: DrawRequest) -> Draw:
        """No further entities."""
        return Draw(np.zeros(0, dtype=np.int64), np.zeros((len(request), 0), dtype=bool), in_batch=True)
