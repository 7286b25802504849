"""Names that say a little more than the mention: "outer nuclear layer" is short for "outer nuclear layer of retina",
and "expressed" stands for "gene expression"."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...kb import KnowledgeBase
from ...types import Rows, Scores
from .derivations import derivations
from .variants import variants

_MOST = 3  # candidates; a word that more of them share tells nothing
_OF = " of "
_HEADS = (" cell", " pathway", " system")  # texts leave them out


def extensions(kb: KnowledgeBase, forms: list[str], kb_rows: Rows, wanted: NDArray[np.bool_]) -> Scores:
    """Find the candidates with a name that adds "of" something, "cell", "pathway" or "system" to the form or a variant
    of it, or any one word to a derivation of the form.

    Args:
        kb: stores the names.
        forms: (n,), the normalised surface forms.
        kb_rows: (n, k), their candidates, -1 = none.
        wanted: (n,), for which mentions.

    Returns:
        (n, k), 1 or 0; all 0 for a mention with more than three such candidates, and for one that is not wanted.
    """
    extended = np.zeros(kb_rows.shape, dtype=np.float32)
    rows = np.unique(kb_rows[wanted])
    rows = rows[rows >= 0]
    texts, offsets = kb.normalized_names_at(rows)
    names_of = [texts[start:end] for start, end in pairwise(offsets.tolist())]
    bare = [set(_without_the_usual(names)) for names in names_of]
    shorter = [set(_without_a_word(names)) for names in names_of]
    for mention in np.flatnonzero(wanted).tolist():
        form = forms[mention]
        same, derived = {form, *variants(form)}, set(derivations(form))
        places = np.flatnonzero(kb_rows[mention] >= 0)
        found = [
            place
            for place, row in zip(
                places.tolist(), np.searchsorted(rows, kb_rows[mention, places]).tolist(), strict=True
            )
            if not (same.isdisjoint(bare[row]) and derived.isdisjoint(shorter[row]))
        ]
        if len(found) <= _MOST:
            extended[mention, found] = 1.0
    return extended


def _without_the_usual(names: list[str]) -> Iterable[str]:
    for name in names:
        if _OF in name:
            yield name.partition(_OF)[0]
        if name.endswith(_HEADS):
            yield name.rpartition(" ")[0]


def _without_a_word(names: list[str]) -> Iterable[str]:
    for name in names:
        if " " in name:
            yield name.partition(" ")[2]
            yield name.rpartition(" ")[0]
