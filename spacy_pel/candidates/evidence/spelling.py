"""How similar are the spellings of a mention's surface form and the names of its candidates?

Word pieces hide spelling: the towers place "carcinomas" and "sarcomas" nearly as close as
"carcinomas" and "carcinoma". Each pair of a surface form and an entity is compared once and remembered.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Indel

from ...kb import KnowledgeBase
from ...types import CandidateTable, Rows, Scores
from ...util.ragged import take_pieces

_FORMS = 4096  # surface forms to remember, at least; at most twice as many
_ROWS = 1024  # entities to remember for each of them: 16 bytes each
_SLACK = 1e-3  # of a bound in percent: more than float32 rounds off

Known = tuple[Rows, Scores]  # (k,) ascending rows, and (2, k) values


class SpellingCache:
    """Similarities of surface forms and entities that were computed before.

    Two generations instead of one ordered dictionary: when the younger one is full it replaces the
    older one, and what is still in use moves back to the younger one. Each step is a single operation on a
    dictionary with values that never change, so neither threads nor forks need a lock.
    """

    def __init__(self) -> None:
        self._young: dict[str, Known] = {}
        self._old: dict[str, Known] = {}

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def look_up(self, form: str, rows: Rows, values: Scores) -> NDArray[np.bool_]:
        """Fill in what is known.

        Args:
            form: a normalised surface form.
            rows: (p,) entities.
            values: (2, p), written where known.

        Returns:
            (p,) which are known.
        """
        known = self._young.get(form)
        if known is None:
            if (known := self._old.get(form)) is None:
                return np.zeros(len(rows), dtype=np.bool_)
            self._keep(form, known)
        at = np.minimum(np.searchsorted(known[0], rows), len(known[0]) - 1)
        hits = known[0][at] == rows
        values[:, hits] = known[1][:, at[hits]]
        return hits

    def remember(self, form: str, rows: Rows, values: Scores) -> None:
        """Add or replace entities of a surface form.

        Args:
            rows: (p,) ascending; at least one.
            values: (2, p).
        """
        if (known := self._young.get(form) or self._old.get(form)) is not None:
            both, firsts = np.unique(np.concatenate([rows, known[0]]), return_index=True)
            if len(both) <= _ROWS:  # otherwise only the latest
                rows, values = both, np.concatenate([values, known[1]], axis=1)[:, firsts]
        # copies, not views of a whole batch
        self._keep(form, (rows[:_ROWS].copy(), values[:, :_ROWS].copy()))

    def _keep(self, form: str, known: Known) -> None:
        if len(self._young) >= _FORMS:
            self._young, self._old = {}, self._young
        self._young[form] = known


def spelling(
    kb: KnowledgeBase, forms: Sequence[str], form_of_mention: Rows, table: CandidateTable
) -> dict[str, Scores]:
    """Compare normalised surface forms with the normalised names of their candidates.

    Args:
        kb: stores the names in normal form; what was compared is kept in its ``memo``.
        forms: distinct normalised surface forms.
        form_of_mention: (n,) which of them each mention has.
        table: the m candidates of the n mentions.

    Returns:
        "edit" and "partial", (m,) float32 in 0..1; the best name counts.
    """
    cache = kb.memo.setdefault("spelling", SpellingCache())
    mentions = np.repeat(np.arange(len(table.offsets) - 1), np.diff(table.offsets))
    n_rows = int(table.kb_rows.max(initial=0)) + 1
    pairs, pair_of = np.unique(form_of_mention[mentions] * n_rows + table.kb_rows, return_inverse=True)
    form_of, row_of = np.divmod(pairs, n_rows)
    values = np.zeros((2, len(pairs)), dtype=np.float32)
    known = np.zeros(len(pairs), dtype=np.bool_)
    pieces = _pieces(forms, form_of)
    for form, piece in pieces:
        known[piece] = cache.look_up(form, row_of[piece], values[:, piece])
    if not known.all():
        new = np.flatnonzero(~known)
        values[:, new] = compare_names(kb, forms, form_of[new], row_of[new])
        for form, piece in pieces:
            if not known[piece].all():
                cache.remember(form, row_of[piece], values[:, piece])
    return {"edit": values[0, pair_of], "partial": values[1, pair_of]}


def compare_names(kb: KnowledgeBase, forms: Sequence[str], form_of: Rows, row_of: Rows) -> Scores:
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
    values[:, named] = np.maximum.reduceat(edit, starts), best / 100.0
    return values


def _similar(scorer: Any, forms: Sequence[str], form_of: Rows, names: NDArray[np.object_]) -> Scores:
    """(c,) the similarity of each name to its form; form_of is ascending."""
    similar = np.empty(len(names), dtype=np.float32)
    for form, piece in _pieces(forms, form_of):
        similar[piece] = process.cdist([form], names[piece].tolist(), scorer=scorer, dtype=np.float32)[0]
    return similar


def _pieces(forms: Sequence[str], form_of: Rows) -> list[tuple[str, slice]]:
    """Each form that occurs, and where; form_of is ascending."""
    cuts = np.searchsorted(form_of, np.arange(len(forms) + 1)).tolist()
    pieces = zip(forms, cuts[:-1], cuts[1:], strict=True)
    return [(form, slice(start, stop)) for form, start, stop in pieces if start < stop]
