"""How far the answer to an abbreviation can be trusted that its document does not define.

Annotated text says how often the short form stood for the entity and how often for others, and the knowledge base
how many entities have it as a name. In advance, each of these has half a use, and meanings that the knowledge base
lacks have as many. The entity's share of the uses bounds P(right).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..corpora.long_forms import is_no_word
from ..index.annotated_text import AliasPriors
from ..kb import KnowledgeBase
from ..types import Rows
from ..util import normalize_alias
from ..util.arrays import segment_sum
from .query import MentionQuery

_CHARACTERS = range(2, 7)  # of a short form
_IN_ADVANCE = 0.5  # uses of each entity: of 0 to 2 the best on MedMentions dev


def trust_in_short_forms(
    kb: KnowledgeBase, priors: AliasPriors, queries: Sequence[MentionQuery], kb_rows: Rows
) -> NDArray[np.float64]:
    """Bound P(right).

    Args:
        kb: the knowledge base.
        priors: counts of annotated mentions.
        queries: n mentions; those whose abbreviation is defined have its long form.
        kb_rows: (n,), the answers; -1 = none.

    Returns:
        (n,), 1 where the mention is no short form.
    """
    bounds = np.ones(len(queries))
    words = [i for i, query in enumerate(queries) if kb_rows[i] >= 0 and may_be_short(query.form)]
    if not words:
        return bounds
    forms = [normalize_alias(queries[i].form) for i in words]
    named, counts, offsets = priors.counts(forms, normalized=True)
    of_answer = segment_sum(np.where(named == np.repeat(kb_rows[words], np.diff(offsets)), counts, 0), offsets)
    uses = segment_sum(counts, offsets)
    n_senses = np.array([len(rows) for rows in kb.rows_of_aliases(forms, normalized=True)])
    senses = np.maximum(np.maximum(n_senses, np.diff(offsets)), 1)
    shares = np.minimum((of_answer + _IN_ADVANCE) / (uses + senses), 1.0)
    for i, share, n_uses in zip(words, shares.tolist(), uses.tolist(), strict=True):
        form = queries[i].form
        # a word that text was annotated with is no abbreviation
        if is_no_word([form]) or (n_uses == 0 and _is_read_as_short(form, kb.names_at([kb_rows[i]])[0])):
            bounds[i] = share
    return bounds


def may_be_short(form: str) -> bool:
    """Whether a form is as short as abbreviations are."""
    return len(form) in _CHARACTERS and " " not in form


def _is_read_as_short(form: str, names: Sequence[str]) -> bool:
    """Whether an entity has a word as an abbreviation only: "Meds" as "MED"."""
    written = {form.lower(), form.lower().removesuffix("s")}
    alike = [name for name in names if name.lower() in written]
    return bool(alike) and all(is_no_word([name]) for name in alike)
