"""When a learned mention decides the answer, and how its answer comes first.

A learned mention decides for mentions of the same surface form, in normal form and with abbreviations
spelled out. In the text in which it was corrected it always does. In other texts it does if it was learned to do so
always; or else, if none of the form was, if annotated text does not use the form for another entity more often, and,
where mentions are read in their context, if no annotated mention of another answer is nearer: no row of kind "mention"
in the index, and no other learned mention of that form. Names do not compete: the correction was made although the
knowledge base has them. Of equally near ones the last one decides; where mentions are read by their form alone, the
last one of the form. How far such an answer can be trusted, see ``MemoryMatches.trusted``.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from ...candidates.evidence import OF_NAMES, candidate_table
from ...index.annotated_text import AliasPriors
from ...kb import KnowledgeBase
from ...types import NIL, CandidateTable, Flags, Floats, Mask, Masks, MentionInText, RankedRows, Rows, Scores, Vectors
from ...util import counted_form, fingerprint
from ...util.arrays import row_products
from ..finder import plain_words
from ..query import MentionQuery, Queries
from .learned import Learned, hash_of

NIL_ROW = -1


@dataclass(frozen=True)
class Reach:
    """Where a correction decides.

    Attributes:
        decides: "always"; "elsewhere" = in other texts, too; "here" = in its own text only, as annotated text uses the
            form for a rival more often, or another correction of the form decides always; "nowhere" = it is not in
            effect, or its entity is retired.
        n_agreeing: corrections of the form that have its answer.
        n_corrections: all of the form.
        rival: the id of the rival, None = there is none.
        n_rival: how often annotated text names it by the form.
    """

    decides: Literal["always", "elsewhere", "here", "nowhere"]
    n_agreeing: int
    n_corrections: int
    rival: str | None
    n_rival: int


@dataclass(frozen=True)
class LearnedMentions:
    """Learned mentions whose entity is live, in an order that does not depend on when they were learned.

    Attributes:
        learned: their entries.
        numbers: (a,), the ids of the entries.
        kb_rows: (a,), the row of the right entity, -1 = NIL.
        vectors: (a, width), as rows of the index; None if one of them was learned without an
            encoder.
        of_form: surface form, see ``util.counted_form`` -> which of the mentions have it.
        rivals: which of them -> the id and the count of the entity that the surface form named most often in annotated
            text, more often than the right one, in that text or as learned.
        settled: (a,), whether there is none.
        always: (a,), whether they decide in spite of it.
    """

    learned: list[Learned]
    numbers: Rows
    kb_rows: Rows
    vectors: Vectors | None
    of_form: dict[str, Rows]
    rivals: dict[int, tuple[str, int]]
    settled: Flags
    always: Flags

    @classmethod
    def of(
        cls, kb: KnowledgeBase, found: Sequence[tuple[Learned, Vectors | None]], priors: AliasPriors | None = None
    ) -> "LearnedMentions":
        """Of these entries and their vectors; those of retired entities are left out.

        Args:
            kb: the entities.
            priors: counts of annotated text; None = there is none.
        """
        with_rows = [(*pair, NIL_ROW if pair[0].after == NIL else kb.row(pair[0].after)) for pair in found]
        live = [item for item in with_rows if item[2] >= 0 or item[0].after == NIL]
        live.sort(key=lambda item: (item[2], counted_form(item[0].form), *item[0].key))
        numbers: dict[str, list[int]] = {}
        for number, (entry, _, _) in enumerate(live):
            numbers.setdefault(counted_form(entry.form), []).append(number)
        kb_rows = np.array([row for _, _, row in live], dtype=np.int64)
        of_form = {form: np.array(of_form) for form, of_form in numbers.items()}
        vectors = [vector for _, vector, _ in live if vector is not None]
        rivals = _rivals(kb, kb_rows, of_form, priors)
        return cls(
            learned=[entry for entry, _, _ in live],
            numbers=np.array([entry.id for entry, _, _ in live], dtype=np.int64),
            kb_rows=kb_rows,
            vectors=np.stack(vectors) if live and len(vectors) == len(live) else None,
            of_form=of_form,
            rivals=rivals,
            settled=np.array([number not in rivals for number in range(len(live))], dtype=np.bool_),
            always=np.array([entry.always for entry, _, _ in live], dtype=np.bool_),
        )

    def reach(self, entry_id: int) -> Reach:
        """Where the entry with this id decides."""
        number = next(iter(np.flatnonzero(self.numbers == entry_id).tolist()), None)
        if number is None:
            return Reach("nowhere", 0, 0, None, 0)
        of_form = self.of_form[counted_form(self.learned[number].form)]
        n_agreeing = int((self.kb_rows[of_form] == self.kb_rows[number]).sum())
        is_here = not self.settled[number] or self.always[of_form].any()
        decides: Any = "always" if self.always[number] else "here" if is_here else "elsewhere"
        return Reach(decides, n_agreeing, len(of_form), *self.rivals.get(number, (None, 0)))

    @property
    def forms(self) -> list[str]:
        """The surface forms that name an entity, not NIL."""
        rows = self.kb_rows.tolist()
        return [entry.form for entry, row in zip(self.learned, rows, strict=True) if row != NIL_ROW]

    @property
    def fingerprint(self) -> str:
        """Changes with the mentions in effect, whenever and by whom they were learned."""
        return fingerprint(*[[entry.form, entry.after, *entry.key, entry.always] for entry in self.learned])


def _rivals(
    kb: KnowledgeBase, kb_rows: Rows, of_form: dict[str, Rows], priors: AliasPriors | None
) -> dict[int, tuple[str, int]]:
    """See ``LearnedMentions``. Counts of a retired entity are its successor's."""
    rivals: dict[int, tuple[str, int]] = {}
    if priors is None or not len(priors):
        return rivals
    named, counts, offsets = priors.counts(list(of_form), normalized=True, of_entities=True)
    for form, numbers in enumerate(of_form.values()):
        of_form_counts = slice(*offsets[form : form + 2])
        annotated: Counter[int] = Counter()
        for entity_id, count in zip(kb.ids_at(named[of_form_counts]), counts[of_form_counts].tolist(), strict=True):
            annotated[kb.row(entity_id)] += count
        del annotated[-1]  # entities without a successor
        rows = kb_rows[numbers].tolist()
        learned = Counter(rows)
        for number, row in zip(numbers.tolist(), rows, strict=True):
            highest, rival = max(((count, other) for other, count in annotated.items() if other != row), default=(0, 0))
            if learned[row] + annotated[row] < highest:
                rivals[number] = kb.ids_at([rival])[0], highest
    return rivals


class IndexWithMemory:
    """An index whose annotated mentions include the learned ones that are settled: it answers like an index
    built with them. Users correct errors, so as evidence the others would stand for too many mentions.

    Args:
        index: an EntityIndex, or a part of one.
        mentions: with vectors.
    """

    def __init__(self, index: Any, mentions: LearnedMentions):
        self.index = index
        self.mentions = mentions
        linked = np.flatnonzero((mentions.kb_rows >= 0) & mentions.settled)
        self._kb_rows = mentions.kb_rows[linked]
        self._vectors = None if mentions.vectors is None else mentions.vectors[linked]
        self.abbreviations: AliasPriors = index.abbreviations
        learned = AliasPriors.build((mentions.learned[i].form for i in linked), self._kb_rows)
        self.priors: AliasPriors = index.priors.merged(learned)

    @property
    def fingerprint(self) -> str:
        """Changes with the index and the learned mentions."""
        return fingerprint(self.index.fingerprint, self.mentions.fingerprint)

    def search_groups(
        self, vectors: Vectors, k: int, allowed: Mask, groups: Sequence[Collection[str]]
    ) -> list[tuple[Scores, Rows]]:
        """As ``EntityIndex.search_groups``."""
        found = self.index.search_groups(vectors, k, allowed, groups)
        if not len(self._kb_rows) or self._vectors is None:
            return found
        cosines = row_products(vectors, self._vectors)
        rows = np.broadcast_to(self._kb_rows, cosines.shape)
        if allowed is not None:
            cosines = np.where(allowed[self._kb_rows], cosines, np.float32(-np.inf))
        return [
            _merged(of_group, cosines, rows, k) if "mention" in kinds else of_group
            for of_group, kinds in zip(found, groups, strict=True)
        ]


def _merged(found: tuple[Scores, Rows], cosines: Scores, kb_rows: Rows, k: int) -> tuple[Scores, Rows]:
    """The k best of both, best first; what was found before wins a tie."""
    scores = np.concatenate([found[0], cosines], axis=1)
    rows = np.concatenate([found[1], np.where(np.isinf(cosines), -1, kb_rows)], axis=1)
    order: Rows = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


NONE, LISTED = -1, -2
_CLOSE = 1e-5  # cosines that differ by less are equal
# What a form means in one text it means in the next one in 75% on MedMentions, 89% on SemRep's sentences, 97% on posts
# of patients; what it means in two, in 88, 93 and 99%, in five, in 95, 96 and 100%. This gives 80, 89 and 95%.
_DOUBT = 0.25  # corrections
# What the linker answers itself. Users correct errors and seldom confirm: with the errors of one half of SemRep's
# sentences and of patients' posts corrected, the other half had the least log loss with 6: .35, with 1 .45, without .56
_OWN = 6.0  # corrections


class MemoryMatches(NamedTuple):
    """Which learned mentions decide, of n mentions.

    Attributes:
        entries: (n,), the id of the learned mention, -1 = none, -2 = a list of short forms decides.
        kb_rows: (n,), its answer: a row of the knowledge base, or -1 = NIL, if it decides.
        answers: which of the mentions -> how often their form was corrected to each row; those in whose own text one
            answer was given are left out.
        confirmed: (n,), whether the learned mention had this answer before.
    """

    entries: Rows
    kb_rows: Rows
    answers: dict[int, Counter[int]]
    confirmed: Flags

    @property
    def decided(self) -> Flags:
        """(n,)"""
        return self.entries != NONE

    @property
    def linked(self) -> Flags:
        """(n,), decided, and not NIL."""
        return self.decided & (self.kb_rows != NIL_ROW)

    def trusted(self, probabilities: Floats, kb_rows: Rows) -> Floats:
        """P(right) of the answers. In its own text a correction is a person's answer: 1. In other texts it is
        agreeing / (all + 1/4), where all are the corrections of the form and agreeing those with the answer; or
        (agreeing + p / 4) / (all + 1/4), if a correction only confirmed what the linker answers with P(right) p. Where
        none decides, the linker's answer counts as six: (agreeing + 6 p) / (all + 6), so that one that was corrected
        elsewhere is trusted less.

        Args:
            probabilities: (n,), P(right) of the linker's own answers.
            kb_rows: (n,), these answers: rows of the knowledge base, -1 = NIL.

        Returns:
            (n,)
        """
        answers = np.where(self.decided, self.kb_rows, kb_rows)
        # what was corrected is evidence, so that the linker itself may give that answer now
        own = np.where((answers == kb_rows) & (self.confirmed | ~self.decided), probabilities, 0.0)
        trusted = np.where(self.decided, 1.0, probabilities)
        weights = np.where(self.decided, _DOUBT, _OWN)
        for number, given in self.answers.items():
            agreeing = given[int(answers[number])] + weights[number] * own[number]
            trusted[number] = agreeing / (given.total() + weights[number])
        return trusted


def match_memory(
    learned: LearnedMentions, queries: Queries, table: CandidateTable, masks: Masks, *, in_context: bool
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
    answers: dict[int, Counter[int]] = {}
    for number, (query, word) in enumerate(zip(queries, plain_words(queries), strict=True)):
        numbers = learned.of_form.get(form := counted_form(word or query.surface), learned.kb_rows[:0])
        if query.sense is not None and (short := counted_form(query.sense.form)) != form:
            # learned of the short form alone, or before there was a list
            numbers = np.append(numbers, learned.of_form.get(short, numbers[:0]))
        if not len(numbers):
            continue
        if masks is not None and (mask := masks[number]) is not None:
            numbers = numbers[(learned.kb_rows[numbers] == NIL_ROW) | mask[learned.kb_rows[numbers]]]
        here, always = _in_text(learned, numbers, query), numbers[learned.always[numbers]]
        given = Counter(learned.kb_rows[here if len(here) else numbers].tolist())
        if len(given) > (len(here) > 0):
            answers[number] = given
        numbers = here if len(here) else always if len(always) else numbers[learned.settled[numbers]]
        if len(numbers):
            chosen, cosine = _nearest(learned, numbers, table, number)
            if len(here) or len(always) or cosine >= _rival(learned, chosen, table, number) - _CLOSE:
                which[number] = chosen
    # the last place where none decides
    rows = np.append(learned.kb_rows, NIL_ROW)[which]
    same = [n != NONE and learned.learned[n].before == learned.learned[n].after for n in which.tolist()]
    return MemoryMatches(np.append(learned.numbers, NONE)[which], rows, answers, np.array(same, dtype=np.bool_))


def add_listed(
    kb: KnowledgeBase,
    queries: Queries,
    table: CandidateTable,
    masks: Masks,
    scores: Scores,
    learned: MemoryMatches | None,
    priors: AliasPriors | None,
) -> MemoryMatches:
    """Add what lists of short forms decide where nothing learned does: an id, or of the entities that have the long
    form as a name the one that annotated text means most often by the short form, or the best. Other long forms are
    mentions like any.

    Args:
        kb: the entities.
        queries: (n,), the mentions.
        table: the evidence for them.
        masks: as for ``match_memory``.
        scores: (n, k), of the candidates.
        learned: what was learned; None = nothing.
        priors: counts of annotated text; None = there is none.

    Returns:
        Of each mention.
    """
    if learned is None:
        none = np.full(len(queries), NONE)
        learned = MemoryMatches(none, none, {}, np.zeros(len(queries), dtype=np.bool_))
    entries, kb_rows = learned.entries.copy(), learned.kb_rows.copy()
    for number, query in enumerate(queries):
        if (sense := query.sense) is None or entries[number] != NONE:
            continue
        rows = kb.rows([sense.kb_id] if sense.kb_id else kb.ids(sense.meaning))
        if masks is not None and (mask := masks[number]) is not None:
            rows = rows[mask[rows]]
        if len(rows) or sense.is_nil:
            entries[number] = LISTED
            found = dict(zip(table.kb_rows[number].tolist(), scores[number].tolist(), strict=True))
            meant: Counter[int] = Counter()
            if len(rows) > 1 and priors is not None:
                annotated, n, _ = priors.counts([sense.form])
                meant.update(dict(zip(annotated.tolist(), n.tolist(), strict=True)))
            best = [(meant[row], found.get(row, -np.inf), -row) for row in rows.tolist()]
            kb_rows[number] = -max(best)[-1] if best else NIL_ROW
    return learned._replace(entries=entries, kb_rows=kb_rows)


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
