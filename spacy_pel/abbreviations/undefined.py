"""How far the answer to an abbreviation can be trusted that its document does not define, and counts of uses.

Annotated text says how often the short form stood for the entity and how often for others, and the knowledge base
how many entities have it as a name. In advance, each of these has half a use, and meanings that the knowledge base
lacks have as many. The entity's share of the uses bounds P(right).
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..index.annotated_text import AliasPriors
from ..kb import KnowledgeBase
from ..types import Rows
from ..util import hash_strings, normalize_alias
from ..util.arrays import segment_sum
from .forms import looks_short, may_be_short, normal_form

_UNIT = 1000  # counts of a use
_MOST = 1 << 27  # counts of an entry: sums must fit 32 bits
_IN_ADVANCE = 0.5  # uses of each entity: of 0 to 2 the best on MedMentions dev


def trust_in_short_forms(
    kb: KnowledgeBase, priors: AliasPriors, forms: Sequence[str], kb_rows: Rows
) -> NDArray[np.float64]:
    """Bound P(right).

    Args:
        kb: the knowledge base.
        priors: counts of annotated mentions.
        forms: of n mentions; those whose abbreviation is defined have its long form.
        kb_rows: (n,), the answers; -1 = none.

    Returns:
        (n,), 1 where the mention is no short form.
    """
    bounds = np.ones(len(forms))
    short = np.flatnonzero((kb_rows >= 0) & np.array(may_be_short(forms), dtype=np.bool_)).tolist()
    if not short or not len(priors):
        return bounds
    names = [normalize_alias(forms[i]) for i in short]
    annotated, counts, offsets = priors.counts(names, normalized=True)
    of_answer = segment_sum(np.where(annotated == np.repeat(kb_rows[short], np.diff(offsets)), counts, 0), offsets)
    uses = segment_sum(counts, offsets)
    n_senses = np.array([len(rows) for rows in kb.rows_of_aliases(names, normalized=True)])
    senses = np.maximum(np.maximum(n_senses, np.diff(offsets)), 1)
    shares = np.minimum((of_answer + _IN_ADVANCE) / (uses + senses), 1.0)
    for i, share, n_uses in zip(short, shares.tolist(), uses.tolist(), strict=True):
        # a word that text was annotated with is no abbreviation
        if looks_short(forms[i]) or (n_uses == 0 and _is_read_as_short(forms[i], kb.names_at([kb_rows[i]])[0])):
            bounds[i] = share
    return bounds


def _is_read_as_short(form: str, names: Sequence[str]) -> bool:
    """Whether an entity has a word as an abbreviation only: "Meds" as "MED"."""
    written = {form.lower(), form.lower().removesuffix("s")}
    alike = [name for name in names if name.lower() in written]
    return bool(alike) and all(map(looks_short, alike))


def abbreviation_counts(entries: Iterable[tuple[str, int, float]]) -> AliasPriors:
    """Count the uses of short forms that an inventory lists.

    Args:
        entries: short form as written, row of the knowledge base (-1 = no entity), and uses.

    Returns:
        Counts whose surface forms are normal forms and whose unit is a thousandth of a use; row -1 has the uses of
        long forms that name no entity. What does not look like a short form is left out.
    """
    counted = ((normal_form(short), row, min(round(_UNIT * uses), _MOST)) for short, row, uses in entries)
    usable = [(form, row, count) for form, row, count in counted if form and count]
    forms, rows, counts = zip(*usable, strict=True) if usable else ((), (), ())
    hashes = hash_strings(list(forms))
    return AliasPriors.summed(hashes, np.array(rows, dtype=np.int32), np.array(counts, dtype=np.int32))
