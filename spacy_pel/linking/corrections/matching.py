"""When a learned mention decides the answer, and how its answer comes first.

A learned mention decides for mentions of the same surface form, in normal form and with abbreviations
spelled out. In the text in which it was corrected it always does. In other texts it does if annotated text
does not use the form for another entity more often, and, where mentions are read in their context, if no annotated
mention of another answer is nearer: no row of kind "mention" in the index, and no other learned mention of that form.
Names do not compete: the correction was made although the knowledge base has them. Of equally near ones the last one
decides; where mentions are read by their form alone, the last one of the form.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...candidates.evidence.evidence import OF_NAMES, candidate_table
from ...kb import KnowledgeBase
from ...types import CandidateTable, Mask, MentionInText, RankedRows, Rows, Scores
from ...util import normalize_alias
from ..query import MentionQuery
from .learned import hash_of
from .learned_mentions import NIL_ROW, LearnedMentions

NONE = -1
_CLOSE = 1e-5  # cosines that differ by less are equal: those of two batches differ in the last digits


class MemoryMatches(NamedTuple):
    """Which learned mentions decide, of n mentions.

    Attributes:
        which: (n,), the learned mention, -1 = none.
        kb_rows: (n,), its answer: a row of the knowledge base, or -1 = NIL, if it decides.
    """

    which: Rows
    kb_rows: Rows

    @property
    def decided(self) -> NDArray[np.bool_]:
        """(n,)"""
        return self.which != NONE

    @property
    def linked(self) -> NDArray[np.bool_]:
        """(n,), decided, and not NIL."""
        return self.decided & (self.kb_rows != NIL_ROW)


def match_memory(
    learned: LearnedMentions,
    queries: Sequence[MentionQuery],
    table: CandidateTable,
    masks: Sequence[Mask] | None,
    *,
    in_context: bool,
) -> MemoryMatches:
    """Find the learned mentions that decide.

    Args:
        learned: the mentions in effect.
        queries: (n,), the mentions.
        table: the evidence for them.
        masks: for each mention a mask over the rows of the knowledge base, or None:
            answers that it excludes do not count.
        in_context: whether the mentions were read in their context.

    Returns:
        Of each mention.
    """
    if not in_context:  # all mentions of a form are equally near
        table = replace(table, vectors=None)
    which = np.full(len(queries), NONE, dtype=np.int64)
    kb_rows = np.full(len(queries), NIL_ROW, dtype=np.int64)
    for number, query in enumerate(queries):
        numbers = learned.of_form.get(normalize_alias(query.surface))
        if numbers is None:
            continue
        mask = None if masks is None else masks[number]
        if mask is not None:
            rows = learned.kb_rows[numbers]
            numbers = numbers[(rows == NIL_ROW) | mask[rows]]
        here = _in_text(learned, numbers, query)
        if len(here):
            which[number] = _nearest(learned, here, table, number)[0]
            continue
        numbers = numbers[learned.settled[numbers]]
        if len(numbers):
            chosen, cosine = _nearest(learned, numbers, table, number)
            if cosine >= _rival(learned, chosen, table, number) - _CLOSE:
                which[number] = chosen
    decided = which != NONE
    kb_rows[decided] = learned.kb_rows[which[decided]]
    return MemoryMatches(which, kb_rows)


def _in_text(learned: LearnedMentions, numbers: Rows, query: MentionQuery) -> Rows:
    """Those learned in the text of the query; if one of them is the same mention,
    only that one."""
    text = hash_of(query.text)
    here = [n for n in numbers.tolist() if learned.learned[n].read_sha256 == text]
    same = [n for n in here if (learned.learned[n].start, learned.learned[n].end) == (query.start, query.end)]
    return np.array(same or here, dtype=np.int64)


def _nearest(learned: LearnedMentions, numbers: Rows, table: CandidateTable, number: int) -> tuple[int, float]:
    """The nearest of these learned mentions to a mention of the table, the last
    of equally near ones; and its cosine, infinite without vectors."""
    if learned.vectors is None or table.vectors is None:
        return int(numbers[learned.numbers[numbers].argmax()]), np.inf
    cosines = learned.vectors[numbers] @ table.vectors[number]
    highest = float(cosines.max())
    equal = numbers[cosines >= highest - _CLOSE]
    return int(equal[learned.numbers[equal].argmax()]), highest


def _rival(learned: LearnedMentions, chosen: int, table: CandidateTable, number: int) -> float:
    """The best cosine of an annotated mention of another entity; -inf = none was found."""
    row, features = table.kb_rows[number], table.features
    # "vote" is 0 where no annotated mention of the candidate was found
    others = (row >= 0) & (row != learned.kb_rows[chosen]) & (features["vote"][number] > 0)
    return float(features["mention"][number][others].max(initial=-np.inf))


def insert_answers(
    kb: KnowledgeBase, mentions: Sequence[MentionInText], table: CandidateTable, matches: MemoryMatches
) -> CandidateTable:
    """Make the answers candidates where the generator did not find them.

    Args:
        kb: the entities.
        mentions: (n,)
        table: their candidates.
        matches: of the same mentions.

    Returns:
        With such candidates behind the others. Of their features, those of names are computed; the others are the
        lowest of the mention's candidates.
    """
    present = (table.kb_rows == matches.kb_rows[:, None]).any(axis=1)
    absent = np.flatnonzero(matches.linked & ~present)
    if not len(absent):
        return table
    rows = matches.kb_rows[absent]
    ranked = RankedRows(rows[:, None], np.zeros((len(rows), 1), np.float32))
    added = candidate_table(kb, ranked, [mentions[i] for i in absent.tolist()])
    counts = table.filled.sum(axis=1)
    table = table.widened(int(counts[absent].max()) + 1)
    filled, features = table.filled, {}
    for name, values in table.features.items():
        lowest = np.where(filled, values, np.inf).min(axis=1)[absent]
        lowest[np.isinf(lowest)] = 0.0
        features[name] = values.copy()
        features[name][absent, counts[absent]] = added.features[name][:, 0] if name in OF_NAMES else lowest
    kb_rows = table.kb_rows.copy()
    kb_rows[absent, counts[absent]] = rows
    return replace(table, kb_rows=kb_rows, features=features)


def put_first(table: CandidateTable, scores: Scores, matches: MemoryMatches) -> Scores:
    """Make the answers the first candidates.

    Returns:
        (n, k), the same scores within each mention: an answer gets the best one, and each candidate that was better
        the next lower one.
    """
    scores = scores.copy()
    for number in np.flatnonzero(matches.linked).tolist():
        of_mention = scores[number]
        order = np.argsort(-of_mention, kind="stable")
        answer = int(np.flatnonzero(table.kb_rows[number] == matches.kb_rows[number])[0])
        rank = int(np.flatnonzero(order == answer)[0])
        of_mention[[answer, *order[:rank]]] = of_mention[order[: rank + 1]]
        is_tied = of_mention == of_mention[answer]
        is_tied[answer] = False
        of_mention[is_tied] = np.nextafter(of_mention[answer], np.float32(-np.inf))
    return scores
