"""From corrections to entries of the memory."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError, Warnings, quoted
from ...kb import KnowledgeBase
from ...types import NIL
from ...util import logger
from ..query import MentionQuery
from .learned import Correction, Learned
from .memory import Memory


def make_entries(
    kb: KnowledgeBase,
    memory: Memory,
    queries: Sequence[MentionQuery],
    corrections: Sequence[Correction],
    masks: Sequence[NDArray[np.bool_] | None] | None,
    before: Sequence[str],
    *,
    by: str,
) -> tuple[list[Learned], list[int]]:
    """Entries of what is new, and which corrections these are.

    Args:
        kb: the entities.
        memory: what is learned already.
        queries: the mentions, as the linker reads them.
        corrections: of the same mentions.
        masks: for each mention the rows of the KB that its label allows; None = all.
        before: the linker's answers.
        by: who corrected them.

    Raises:
        PelError: if an answer cannot be learned, or all of them may be the linker's own.
    """
    known = {entry.key: (entry.after, entry.form) for entry in memory.learned}
    entries: list[Learned] = []
    new: list[int] = []
    n_own = 0
    for number, (query, correction) in enumerate(zip(queries, corrections, strict=True)):
        answer = _checked_id(kb, correction)
        mask = None if masks is None else masks[number]
        if mask is not None and answer != NIL and not mask[kb.row(answer)]:
            raise PelError(Errors.E533.format(label=query.label, id=answer, text=_described(correction)))
        entry = Learned.of(
            correction, query, id=memory.next_id + len(entries), by=by, before=before[number], after=answer
        )
        if known.get(entry.key) == (entry.after, entry.form):
            continue
        if not correction.explicit and entry.before == entry.after:
            n_own += 1
        else:
            known[entry.key] = (entry.after, entry.form)
            entries.append(entry)
            new.append(number)
    if n_own and n_own == len(corrections):
        raise PelError(Errors.E532)
    if n_own:
        logger.warning(Warnings.W550.format(n=n_own, of=len(corrections)))
    return entries, new


def _checked_id(kb: KnowledgeBase, correction: Correction) -> str:
    """The answer; the successor of an id that has one."""
    answer = correction.kb_id
    if answer == NIL:
        return NIL
    live = kb.resolve(answer) if isinstance(answer, str) else None
    if live is None:
        is_retired = isinstance(answer, str) and kb.is_retired(answer)
        why = "is retired without a successor" if is_retired else "the knowledge base lacks"
        raise PelError(Errors.E530.format(text=_described(correction), id=quoted(answer), why=why))
    return live


def _described(correction: Correction) -> str:
    return quoted(correction.surface) + (f" ({correction.where})" if correction.where else "")
