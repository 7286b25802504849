"""The entities that the long forms of an inventory of abbreviations name."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..index.abbreviations import abbreviation_counts
from ..index.annotated_text import AliasPriors
from ..util import progress
from ..util.arrays import best_first
from .confidence import shares_of
from .query import MentionQuery

if TYPE_CHECKING:
    from .linker import Linker

_MOST = 3  # entities of a long form
_MIN_SHARE = 0.05  # of its uses

Shares = list[tuple[int, float]]  # rows of the knowledge base, -1 = no entity


def link_long_forms(
    linker: "Linker", uses: Iterable[tuple[str, str, int]], *, show_progress: bool = False
) -> AliasPriors:
    """Link each long form by itself, and divide its uses among its candidates and NIL.

    Args:
        linker: with the knowledge base that the counts are for.
        uses: short form, long form, and how often it stands for it.
        show_progress: show a progress bar.

    Returns:
        Counts of uses by short form and entity, see ``index/abbreviations.py``.
    """
    linker, listed = linker.without_memory(), list(uses)
    forms = list(dict.fromkeys(long_form for _, long_form, _ in listed))
    starts = range(0, len(forms), linker.batch_size)
    shares: dict[str, Shares] = {}
    for start in progress(starts, description="Linking long forms", show=show_progress):
        batch = forms[start : start + linker.batch_size]
        shares.update(zip(batch, _link(linker, batch), strict=True))
    return abbreviation_counts(
        (short, row, share * n) for short, long_form, n in listed for row, share in shares[long_form]
    )


def _link(linker: "Linker", forms: list[str]) -> list[Shares]:
    """P(entity | form) of the best candidates of each form, and the rest for NIL."""
    ranked = linker.rank("form", [MentionQuery(form, 0, len(form)) for form in forms], linker.top_k)
    shares = shares_of(ranked.table, ranked.scores)
    if linker.decider("form").decides_without_threshold:
        shares *= 1.0 - np.clip(ranked.nil_scores, 0.0, 1.0)[:, None]
    shares[shares < _MIN_SHARE] = 0.0
    best = best_first(shares)[:, :_MOST]
    rows = np.take_along_axis(ranked.table.kb_rows, best, axis=1)
    shares = np.take_along_axis(shares, best, axis=1)
    rest = np.maximum(1.0 - shares.sum(axis=1), 0.0)
    return [
        [(-1, nil), *zip(its_rows, its_shares, strict=True)]
        for nil, its_rows, its_shares in zip(rest.tolist(), rows.tolist(), shares.tolist(), strict=True)
    ]
