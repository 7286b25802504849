"""What is embedded: the cards and names of entities, and the mentions of annotated text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..kb import KnowledgeBase
from ..types import Document, Entity, MentionInText, Rows
from ..util import normalize_alias

_SEED = 0  # fixed: the same input gives the same index


def entities_at(kb: KnowledgeBase, kb_rows: Rows) -> Iterator[tuple[int, Entity]]:
    """KB row and entity; fastest if all live rows are given."""
    if np.array_equal(kb_rows, kb.live_rows):
        return zip(kb_rows.tolist(), kb.entities(), strict=True)
    return ((row, kb.entity_at(row)) for row in kb_rows.tolist())


def names_of(entity: Entity) -> list[str]:
    """Canonical name and aliases, without repeats of one normal form."""
    names: dict[str, str] = {}
    for name in (entity.canonical_name, *entity.aliases):
        names.setdefault(normalize_alias(name), name)
    return list(names.values())


def with_names(entities: Iterable[tuple[int, Entity]]) -> Iterator[tuple[int, str]]:
    """KB row and one name of its entity."""
    for row, entity in entities:
        for name in names_of(entity):
            yield row, name


@dataclass
class LinkedMentions:
    """Mentions of annotated text whose entities are in the knowledge base.

    Attributes:
        mentions: one for each pair of mention and entity.
        kb_rows: the entity's row.
        n_documents: number of documents read.
    """

    mentions: list[MentionInText]
    kb_rows: Rows
    n_documents: int

    @classmethod
    def read(cls, kb: KnowledgeBase, documents: Iterable[Document]) -> "LinkedMentions":
        """NIL mentions and unknown ids are left out; a mention with several ids counts for each."""
        mentions: list[MentionInText] = []
        ids: list[str] = []
        n_documents = 0
        for document in documents:
            n_documents += 1
            for mention in document.mentions:
                for entity_id in dict.fromkeys(mention.ids):
                    mentions.append(MentionInText(document.text, mention.start, mention.end))
                    ids.append(entity_id)
        kb_rows = kb.rows(ids)
        known = np.flatnonzero(kb_rows >= 0)
        return cls([mentions[i] for i in known], kb_rows[known], n_documents)

    def by_text(self) -> tuple[list[str], list[Rows]]:
        """Each text with a mention, in order, and the
        entities of its mentions."""
        numbers: dict[str, int] = {}
        which = [numbers.setdefault(mention.text, len(numbers)) for mention in self.mentions]
        order = np.argsort(which, kind="stable")
        lengths = np.bincount(which, minlength=len(numbers)) if which else np.zeros(0, dtype=np.int64)
        return list(numbers), np.split(self.kb_rows[order], np.cumsum(lengths)[:-1]) if numbers else []

    def capped(self, most: int | None) -> "LinkedMentions":
        """At most ``most`` mentions of each entity, drawn at random."""
        if most is None:
            return self
        order = np.random.default_rng(_SEED).permutation(len(self.mentions))
        order = order[np.argsort(self.kb_rows[order], kind="stable")]
        _, firsts, counts = np.unique(self.kb_rows[order], return_index=True, return_counts=True)
        rank = np.arange(len(order)) - np.repeat(firsts, counts)
        kept = np.sort(order[rank < most])
        return LinkedMentions([self.mentions[i] for i in kept], self.kb_rows[kept], self.n_documents)

    def sampled(self, most: int) -> "LinkedMentions":
        """At most ``most`` mentions, drawn at random."""
        kept = sample_rows(np.arange(len(self.mentions)), most)
        return LinkedMentions([self.mentions[i] for i in kept], self.kb_rows[kept], self.n_documents)


def sample_rows(rows: Rows, most: int) -> Rows:
    """At most ``most`` of the rows, drawn at random, in order."""
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(_SEED).choice(rows, size=most, replace=False))
