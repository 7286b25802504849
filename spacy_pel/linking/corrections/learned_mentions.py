"""The learned mentions that are in effect, as arrays over the rows of a knowledge base."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...candidates.evidence.evidence import RowSource
from ...index.annotated_text import AliasPriors
from ...kb import KnowledgeBase
from ...types import NIL, Mask, Rows, Scores, Vectors
from ...util import fingerprint, normalize_alias
from .learned import Learned

NIL_ROW = -1


@dataclass(frozen=True)
class LearnedMentions:
    """Learned mentions whose entity is live, in an order that does not depend on when they were learned.

    Attributes:
        learned: their entries.
        numbers: (a,), the ids of the entries.
        kb_rows: (a,), the row of the right entity, -1 = NIL.
        vectors: (a, width), as rows of the index; None if one of them was learned without an
            encoder.
        of_form: normalised surface form -> which of the mentions have it.
        settled: (a,), whether the surface form named no other entity more often in annotated text
            than it names the right one, in that text or as learned.
    """

    learned: list[Learned]
    numbers: Rows
    kb_rows: Rows
    vectors: Vectors | None
    of_form: dict[str, Rows]
    settled: NDArray[np.bool_]

    @classmethod
    def of(
        cls, kb: KnowledgeBase, found: Sequence[tuple[Learned, Vectors | None]], priors: AliasPriors | None = None
    ) -> "LearnedMentions":
        """Of these entries and their vectors; those of retired entities are left out.

        Args:
            kb: the entities.
            priors: counts of annotated text; None = there is none.
        """
        rows = [NIL_ROW if entry.after == NIL else kb.row(entry.after) for entry, _ in found]
        live = [
            (entry, vector, row)
            for (entry, vector), row in zip(found, rows, strict=True)
            if row >= 0 or entry.after == NIL
        ]
        live.sort(key=lambda item: (item[2], normalize_alias(item[0].form), *item[0].key))
        numbers: dict[str, list[int]] = {}
        for number, (entry, _, _) in enumerate(live):
            numbers.setdefault(normalize_alias(entry.form), []).append(number)
        kb_rows = np.array([row for _, _, row in live], dtype=np.int64)
        of_form = {form: np.array(of_form) for form, of_form in numbers.items()}
        with_vectors = bool(live) and all(vector is not None for _, vector, _ in live)
        return cls(
            learned=[entry for entry, _, _ in live],
            numbers=np.array([entry.id for entry, _, _ in live], dtype=np.int64),
            kb_rows=kb_rows,
            vectors=np.stack([vector for _, vector, _ in live]) if with_vectors else None,  # type: ignore[misc]
            of_form=of_form,
            settled=_settled(kb, kb_rows, of_form, priors),
        )

    @property
    def forms(self) -> list[str]:
        """The surface forms that name an entity, not NIL."""
        rows = self.kb_rows.tolist()
        return [entry.form for entry, row in zip(self.learned, rows, strict=True) if row != NIL_ROW]

    @property
    def fingerprint(self) -> str:
        """Changes with the mentions in effect, whenever and by whom they were learned."""
        return fingerprint(*[[entry.form, entry.after, *entry.key] for entry in self.learned])


def _settled(
    kb: KnowledgeBase, kb_rows: Rows, of_form: dict[str, Rows], priors: AliasPriors | None
) -> NDArray[np.bool_]:
    """(a,), see ``LearnedMentions``. Counts of a retired entity are its successor's."""
    settled = np.ones(len(kb_rows), dtype=np.bool_)
    if priors is None or not len(priors):
        return settled
    named, counts, offsets = priors.counts(list(of_form), normalized=True)
    for form, numbers in enumerate(of_form.values()):
        of_form_counts = slice(*offsets[form : form + 2])
        annotated: Counter[int] = Counter()
        for entity_id, count in zip(kb.ids_at(named[of_form_counts]), counts[of_form_counts].tolist(), strict=True):
            annotated[kb.row(entity_id)] += count
        del annotated[-1]  # entities without a successor
        rows = kb_rows[numbers].tolist()
        learned = Counter(rows)
        for number, row in zip(numbers.tolist(), rows, strict=True):
            highest = max((count for other, count in annotated.items() if other != row), default=0)
            settled[number] = learned[row] + annotated[row] >= highest
    return settled


class IndexWithMemory:
    """An index whose annotated mentions include the learned ones that are settled: it answers like an index
    built with them. Users correct errors, so as evidence the others would stand for too many mentions.

    Args:
        index: an EntityIndex, or a part of one.
        mentions: with vectors.
    """

    def __init__(self, index: Any, mentions: LearnedMentions):
        self.index: RowSource = index
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
        return fingerprint(self.index.fingerprint, self.mentions.fingerprint)  # type: ignore[attr-defined]

    def search_groups(
        self, vectors: Vectors, k: int, allowed: Mask, groups: Sequence[Collection[str]]
    ) -> list[tuple[Scores, Rows]]:
        """As ``EntityIndex.search_groups``."""
        found = self.index.search_groups(vectors, k, allowed, groups)
        if not len(self._kb_rows) or self._vectors is None:
            return found
        cosines = vectors @ self._vectors.T
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
    order: NDArray[np.int64] = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)
