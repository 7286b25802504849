"""Whether a mention is the preferred name of a candidate: of two entities named "syndactyly", texts mean the one that
is called so rather than the one that has it as a synonym."""

import numpy as np
from numpy.typing import NDArray

from ...kb import KnowledgeBase
from ...types import Rows, Scores
from ...util import normalize_alias
from .variants import variants


def preferred_names(kb: KnowledgeBase, forms: list[str], kb_rows: Rows, named: NDArray[np.bool_]) -> Scores:
    """Find the candidates whose preferred name is the form or a variant of it.

    Args:
        kb: stores the names.
        forms: (n,), the normalised surface forms.
        kb_rows: (n, k), their candidates.
        named: (n, k), whether the form or a variant is a name of the candidate.

    Returns:
        (n, k), 1 or 0.
    """
    is_preferred = np.zeros(kb_rows.shape, dtype=np.float32)
    mentions, places = np.nonzero(named)
    rows, which = np.unique(kb_rows[mentions, places], return_inverse=True)
    preferred = [normalize_alias(names[0]) for names in kb.names_at(rows)]  # at once: each read of the store takes time
    for mention, place, row in zip(mentions.tolist(), places.tolist(), which.tolist(), strict=True):
        name, form = preferred[row], forms[mention]
        is_preferred[mention, place] = name == form or name in variants(form)
    return is_preferred
