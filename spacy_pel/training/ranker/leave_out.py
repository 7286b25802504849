"""Views of an index with documents held out."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...index import EntityIndex
from ...index.annotated_text import AliasPriors, Topics
from ...index.embed import LinkedMentions
from ...index.row_table import KINDS
from ...kb import KnowledgeBase
from ...types import Document, Mask, MentionInText, Rows, Scores, Vectors, original_id
from ...util.arrays import numbered


class LeaveOut:
    """Maps each mention row and each count of an index to its document, so that documents can be held
    out without re-embedding. The mapping follows from the documents, and is checked.

    Args:
        kb: of the index.
        index: with rows of kind "mention" or counts of surface forms.
        documents: those that the index was built with, in the same order.

    Raises:
        PelError: if it was built with other documents.
    """

    def __init__(self, kb: KnowledgeBase, index: EntityIndex, documents: Sequence[Document]):
        self.index = index
        self._mentions: list[MentionInText] = []
        kb_rows: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        owner: list[int] = []
        self._numbers: dict[str, int] = {}
        for document in documents:
            number = self._numbers.setdefault(original_id(document), len(self._numbers))
            gold = LinkedMentions.read(kb, [document])
            self._mentions += gold.mentions
            kb_rows.append(gold.kb_rows)
            owner += [number] * len(gold.mentions)
        self._kb_rows = np.concatenate(kb_rows)
        self._owner = np.array(owner, dtype=np.int64)
        # numbered as in the topics: the distinct texts with a mention, in order
        _, self._text = numbered(mention.text for mention in self._mentions)
        self._row_owner = self._owners_of_rows()
        priors, counted = index.priors, self._priors(np.ones(len(self._owner), dtype=np.bool_))
        if len(priors) and not _same(priors, counted):
            raise PelError(Errors.E391.format(what=f"{len(priors):,} counts of surface forms", got=f"{len(counted):,}"))
        if index.topics is not None:
            texts, kb_rows_of_each = LinkedMentions(self._mentions, self._kb_rows).by_text()
            n_texts, again = len(index.topics), Topics.build(index.topics.vectors, kb_rows_of_each)
            if n_texts != len(texts) or not _same(index.topics, again):
                raise PelError(Errors.E391.format(what=f"{n_texts:,} texts", got=f"{len(texts):,}"))

    def _owners_of_rows(self) -> NDArray[np.int64]:
        """For each row of the index its document; -1 = not a mention's row."""
        rows = self.index.rows
        places = np.flatnonzero(rows.kinds == KINDS.index("mention"))
        owner_of_row = np.full(len(rows), -1, dtype=np.int64)
        if len(places):
            # the cap on mentions per entity is that of the entity with the most rows
            most = int(np.bincount(rows.kb_rows[places]).max())
            by_object = {id(m): owner for m, owner in zip(self._mentions, self._owner, strict=True)}
            kept = LinkedMentions(self._mentions, self._kb_rows).capped(most)
            if not np.array_equal(kept.kb_rows, rows.kb_rows[places]):
                raise PelError(Errors.E391.format(what=f"{len(places):,} mention rows", got=f"{len(kept.kb_rows):,}"))
            owner_of_row[places] = [by_object[id(mention)] for mention in kept.mentions]
        return owner_of_row

    def _priors(self, kept: NDArray[np.bool_]) -> AliasPriors:
        surfaces = [self._mentions[i].surface for i in np.flatnonzero(kept)]
        return AliasPriors.build(surfaces, self._kb_rows[kept])

    def without(self, ids: Collection[str]) -> "PartOfIndex":
        """The index without the documents of these original ids; unknown ids are
        ignored."""
        left_out = np.array(sorted(self._numbers[i] for i in ids if i in self._numbers), dtype=np.int64)
        priors = self.index.priors
        if len(priors):
            priors = self._priors(~np.isin(self._owner, left_out))
        topics = self.index.topics
        if topics is not None:
            topics = topics.without(np.unique(self._text[np.isin(self._owner, left_out)]))
        return PartOfIndex(self.index, priors, ~np.isin(self._row_owner, left_out), topics)


def _same(counted: AliasPriors | Topics, again: AliasPriors | Topics) -> bool:
    theirs = again.columns()
    return all(np.array_equal(column, theirs[name]) for name, column in counted.columns().items())


class PartOfIndex:
    """A view of an index for a linker, with some of its rows hidden and other counts.

    Args:
        index: the whole index.
        priors: the counts to use.
        shown: (rows,), True = visible.
        topics: the topics to use.
    """

    def __init__(self, index: EntityIndex, priors: AliasPriors, shown: NDArray[np.bool_], topics: Topics | None = None):
        self.index = index
        self.abbreviations = index.abbreviations
        self.priors = priors
        self.shown = shown
        self.topics = topics

    def search_groups(
        self, vectors: Vectors, k: int, allowed: Mask, groups: Sequence[Collection[str]]
    ) -> list[tuple[Scores, Rows]]:
        """As ``EntityIndex.search_groups``."""
        shown = None if self.shown.all() else self.shown
        return self.index.search_groups(vectors, k, allowed, groups, shown)
