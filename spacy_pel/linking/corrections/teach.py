"""From corrections to entries of the memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError, Warnings, quoted
from ...types import NIL
from ...util import logger
from ..query import MentionQuery
from .learned import Correction, Learned

if TYPE_CHECKING:
    from ..linker import Linker


def make_entries(
    linker: "Linker",
    queries: Sequence[MentionQuery],
    corrections: Sequence[Correction],
    allowed: Sequence[NDArray[np.bool_] | None] | None,
    *,
    by: str,
) -> tuple[list[Learned], list[int]]:
    """Entries of what is new, and which corrections these are.

    Raises:
        PelError: if an answer cannot be learned, or all of them may be the linker's own.
    """
    answers = []
    for number, (query, given) in enumerate(zip(queries, corrections, strict=True)):
        answer = _checked_id(linker, given)
        mask = None if allowed is None else allowed[number]
        if mask is not None and answer != NIL and not mask[linker.kb.row(answer)]:
            raise PelError(Errors.E533.format(label=query.label, id=answer, text=_shown(given)))
        answers.append(answer)
    links = linker.link(queries)
    known = {one.place: (one.after, one.form) for one in linker.memory.learned}
    entries: list[Learned] = []
    new: list[int] = []
    n_own = 0
    for number, (query, given) in enumerate(zip(queries, corrections, strict=True)):
        entry = Learned.of(
            given,
            query,
            id=linker.memory.next_id + len(entries),
            by=by,
            before=links[number].kb_id,
            after=answers[number],
        )
        if known.get(entry.place) == (entry.after, entry.form):
            continue
        if not given.explicit and entry.before == entry.after:
            n_own += 1
        else:
            known[entry.place] = (entry.after, entry.form)
            entries.append(entry)
            new.append(number)
    if n_own and n_own == len(corrections):
        raise PelError(Errors.E532)
    if n_own:
        logger.warning(Warnings.W550.format(n=n_own, of=len(corrections)))
    return entries, new


def _checked_id(linker: "Linker", given: Correction) -> str:
    """The answer; the successor of an id that has one."""
    if given.kb_id == NIL:
        return NIL
    live = linker.kb.resolve(given.kb_id) if isinstance(given.kb_id, str) else None
    if live is None:
        is_retired = isinstance(given.kb_id, str) and linker.kb.is_retired(given.kb_id)
        why = "is retired without a successor" if is_retired else "the knowledge base lacks"
        raise PelError(Errors.E530.format(text=_shown(given), id=quoted(given.kb_id), why=why))
    return live


def _shown(given: Correction) -> str:
    return quoted(given.surface) + (f" ({given.where})" if given.where else "")
