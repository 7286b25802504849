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
    for mention, place in np.argwhere(named).tolist():
        name, form = normalize_alias(kb.name_at(int(kb_rows[mention, place]))), forms[mention]
        is_preferred[mention, place] = name == form or name in variants(form)
    return is_preferred
