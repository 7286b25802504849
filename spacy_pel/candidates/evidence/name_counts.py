"""How many names the candidates have that share a name and that annotated text never named: what several vocabularies
name is meant more often than its near twin in a single one."""

import numpy as np
from numpy.typing import NDArray

from ...kb import KnowledgeBase
from ...types import Rows, Scores


def name_counts(kb: KnowledgeBase, kb_rows: Rows, wanted: NDArray[np.bool_]) -> Scores:
    """Compare numbers of names.

    Args:
        kb: stores the names.
        kb_rows: (n, k), the candidates of n mentions.
        wanted: (n, k), which of them to compare.

    Returns:
        (n, k), log(1 + names) less its mean over the mention's wanted candidates; 0 for the others.
    """
    values = np.zeros(kb_rows.shape, dtype=np.float32)
    several = np.flatnonzero(wanted.sum(axis=1) > 1)
    chosen = wanted[several]
    rows, which = np.unique(kb_rows[several][chosen], return_inverse=True)
    _, offsets = kb.normalized_names_at(rows)
    logs = np.zeros(chosen.shape)
    logs[chosen] = np.log1p(np.diff(offsets))[which]
    means = logs.sum(axis=1, keepdims=True) / chosen.sum(axis=1, keepdims=True)
    values[several] = np.where(chosen, logs - means, 0.0)
    return values
