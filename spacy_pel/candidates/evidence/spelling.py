"""How similar are the spellings of a mention's surface form and the names of its candidates?

Word pieces hide spelling: the towers place "carcinomas" and "sarcomas" nearly as close as
"carcinomas" and "carcinoma".
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from ...kb import KnowledgeBase
from ...types import Rows, Scores
from ...util.arrays import distinct, numbered, take_pieces

_SLACK = 1e-3  # of a bound in percent: more than float32 rounds off


def spelling(kb: KnowledgeBase, forms: Sequence[str], kb_rows: Rows) -> dict[str, Scores]:
    """Compare normalised surface forms with the normalised names of their candidates.

    Args:
        kb: stores the names in normal form.
        forms: (n,), of the mentions.
        kb_rows: (n, k), their candidates, -1 = none.

    Returns:
        "edit" and "partial", (n, k) in 0..1; the best name counts.
    """
    different, which = numbered(forms)
    filled = kb_rows >= 0
    similar = np.zeros((2, *kb_rows.shape), dtype=np.float32)
    similar[:, filled] = _compare_pairs(kb, different, which[np.nonzero(filled)[0]], kb_rows[filled])
    return {"edit": similar[0], "partial": similar[1]}


def edit_similarity(kb: KnowledgeBase, forms: Sequence[str], form_of: Rows, row_of: Rows) -> Scores:
    """ "edit" alone, of any pairs; see ``compare_names``.

    Args:
        kb: stores the names.
        forms: normalised surface forms.
        form_of: (p,) which form.
        row_of: (p,) the entity to compare it with.
    """
    return _compare_pairs(kb, forms, form_of, row_of, stretches=False)[0]


def _compare_pairs(
    kb: KnowledgeBase, forms: Sequence[str], form_of: Rows, row_of: Rows, *, stretches: bool = True
) -> Scores:
    """As ``compare_names``, for pairs in any order and with repeats; each is compared once."""
    n_rows = int(row_of.max(initial=0)) + 1
    pairs, pair_of = distinct(form_of * n_rows + row_of)
    return compare_names(kb, forms, *np.divmod(pairs, n_rows), stretches=stretches)[:, pair_of]


def compare_names(
    kb: KnowledgeBase, forms: Sequence[str], form_of: Rows, row_of: Rows, *, stretches: bool = True
) -> Scores:
    """Compare surface forms with the names of entities.

    "edit" is the Indel similarity 2 L / (a + b) of strings of a and b characters whose longest common
    subsequence has L; "partial" is the highest Indel similarity of the shorter string and a stretch of
    the longer one that is no longer than it. A stretch of w characters has at most min(w, L) in common
    with a string of a <= b characters, and its similarity is at most 2 min(w, L) / (a + w), which is
    highest for w = L. So no name's "partial" is above 2 L / (a + L), which "edit" gives, and names whose
    bound is not above the best "partial" of their entity are left out: more than half of them.

    Args:
        kb: stores the names.
        forms: normalised surface forms.
        form_of: (p,) ascending, which form.
        row_of: (p,) the entities to compare it with.
        stretches: compute "partial", too, which takes far longer; otherwise it is 0.

    Returns:
        (2, p) "edit" and "partial" of the best names; 0 for a retired entity.
    """
    rows, entity_of = np.unique(row_of, return_inverse=True)
    texts, offsets = kb.normalized_names_at(rows)
    counts = np.diff(offsets)[entity_of]
    values = np.zeros((2, len(row_of)), dtype=np.float32)
    named = np.flatnonzero(counts)  # a retired entity has no names
    if not len(named):
        return values
    counts, form_of = counts[named], form_of[named]
    starts = np.cumsum(counts) - counts
    pair = np.repeat(np.arange(len(named)), counts)  # of each comparison
    name = take_pieces(np.arange(len(texts)), offsets, entity_of[named])
    names, form = np.array(texts, dtype=object), form_of[pair]

    edit = _similar(Indel.normalized_similarity, forms, form, names[name])
    values[0, named] = np.maximum.reduceat(edit, starts)
    if not stretches:
        return values
    form_length = np.array(list(map(len, forms)), dtype=np.float32)[form]
    name_length = np.array(list(map(len, texts)), dtype=np.float32)[name]
    common, shorter = np.rint(edit * (form_length + name_length) / 2), np.minimum(form_length, name_length)
    bound = 200 * common / np.maximum(shorter + common, 1)
    bound[shorter == 0] = 100.0
    best = np.zeros(len(named), dtype=np.float32)
    for is_last in (False, False, True):
        # the most promising name of each pair first, then whatever may still be better
        wanted = (bound + _SLACK > best[pair]) & (best[pair] < 100.0)
        if not is_last:
            wanted &= bound >= np.maximum.reduceat(bound, starts)[pair]
        chosen = np.flatnonzero(wanted)
        if not is_last:
            chosen = chosen[np.diff(pair[chosen], prepend=-1) > 0]
        partial = _similar(fuzz.partial_ratio, forms, form[chosen], names[name[chosen]])
        np.maximum.at(best, pair[chosen], partial)
        bound[chosen] = -1.0
    values[1, named] = best / 100.0
    return values


def _similar(scorer: Any, forms: Sequence[str], form_of: Rows, names: NDArray[np.object_]) -> Scores:
    """(c,) the similarity of each name to its form; form_of is ascending."""
    similar = np.empty(len(names), dtype=np.float32)
    cuts = np.searchsorted(form_of, np.arange(len(forms) + 1)).tolist()
    for form, start, stop in zip(forms, cuts[:-1], cuts[1:], strict=True):
        if start < stop:
            alike = process.cdist([form], names[start:stop].tolist(), scorer=scorer, dtype=np.float32)
            similar[start:stop] = alike[0]
    return similar
