"""What an index embeds: cards and names of entities, and forms and mentions of annotated text. It does so in chunks,
so that memory stays bounded however large the knowledge base is."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..kb import KnowledgeBase
from ..types import Document, Encoder, Entity, MentionInText, Rows, Vectors
from ..util import counted_form, normalize_alias
from ..util.arrays import numbered
from ..util.console import progress_bar
from .row_table import NAME_KINDS, SEED, hash_texts, sample_rows

_CHUNK = 16_384  # strings at a time: 25 MB of vectors at width 384
Item = TypeVar("Item", bound=Hashable)


class Chunk(NamedTuple):
    """Rows of one kind.

    Attributes:
        kind: card, alias, mention or form.
        kb_rows: the entity of each.
        texts: a hash of what each stands for.
        vectors: (n, width).
    """

    kind: str
    kb_rows: Rows
    texts: NDArray[np.uint64]
    vectors: Vectors


@dataclass
class LinkedMentions:
    """Mentions of annotated text whose entities are in the knowledge base.

    Attributes:
        mentions: one for each pair of mention and entity.
        kb_rows: the entity's row.
    """

    mentions: list[MentionInText]
    kb_rows: Rows

    @classmethod
    def read(cls, kb: KnowledgeBase, documents: Iterable[Document]) -> "LinkedMentions":
        """NIL mentions and unknown ids are left out; a mention with several ids counts for each."""
        mentions: list[MentionInText] = []
        ids: list[str] = []
        for document in documents:
            for mention in document.mentions:
                for entity_id in dict.fromkeys(mention.ids):
                    mentions.append(MentionInText(document.text, mention.start, mention.end))
                    ids.append(entity_id)
        kb_rows = kb.rows(ids)
        return cls(mentions, kb_rows)._take(np.flatnonzero(kb_rows >= 0))

    def _take(self, numbers: Rows) -> "LinkedMentions":
        return LinkedMentions([self.mentions[i] for i in numbers], self.kb_rows[numbers])

    def by_text(self) -> tuple[list[str], list[Rows]]:
        """Each text with a mention, in order, and the entities of its mentions."""
        texts, which = numbered(mention.text for mention in self.mentions)
        order = np.argsort(which, kind="stable")
        return texts, np.split(self.kb_rows[order], np.cumsum(np.bincount(which))[:-1]) if texts else []

    def capped(self, limit: int | None) -> "LinkedMentions":
        """At most ``limit`` mentions of each entity, drawn at random; None = all."""
        if limit is None:
            return self
        order = np.random.default_rng(SEED).permutation(len(self.mentions))
        order = order[np.argsort(self.kb_rows[order], kind="stable")]
        _, firsts, counts = np.unique(self.kb_rows[order], return_index=True, return_counts=True)
        rank = np.arange(len(order)) - np.repeat(firsts, counts)
        return self._take(np.sort(order[rank < limit]))

    def sampled(self, limit: int) -> "LinkedMentions":
        """At most ``limit`` mentions, drawn at random."""
        return self._take(sample_rows(np.arange(len(self.mentions)), limit))


def names_of(entity: Entity) -> list[str]:
    """Canonical name and aliases, without repeats of one normal form."""
    names: dict[str, str] = {}
    for name in (entity.canonical_name, *entity.aliases):
        names.setdefault(normalize_alias(name), name)
    return list(names.values())


def embed_entities(
    kb: KnowledgeBase, encoder: Encoder, kb_rows: Rows, kinds: Sequence[str], *, show_progress: bool = False
) -> Iterator[Chunk]:
    """Embed cards, names, or both of entities.

    Args:
        kb: the entities.
        encoder: computes the vectors.
        kb_rows: rows of the entities.
        kinds: kinds of rows wanted; "mention" and "form" are ignored.
        show_progress: show a progress bar.

    Yields:
        Cards, then names.
    """
    for kind in NAME_KINDS:
        if kind not in kinds:
            continue
        entities: Iterable[tuple[int, Entity]] = ((row, kb.entity_at(row)) for row in kb_rows.tolist())
        if np.array_equal(kb_rows, kb.live_rows):
            entities = zip(kb_rows.tolist(), kb.entities(), strict=True)  # faster
        bar = progress_bar(f"Embedding {kind} rows", len(kb_rows), show=show_progress)
        if kind == "card":
            yield from _chunks(kind, entities, encoder.encode_entities, bar)
        else:
            names = ((row, name) for row, entity in entities for name in names_of(entity))
            yield from _chunks(kind, names, encoder.encode_names, bar)


def embed_mentions(encoder: Encoder, gold: LinkedMentions, *, show_progress: bool = False) -> Iterator[Chunk]:
    """Embed mentions."""
    pairs = zip(gold.kb_rows.tolist(), gold.mentions, strict=True)
    bar = progress_bar("Embedding mention rows", len(gold.mentions), show=show_progress)
    yield from _chunks("mention", pairs, encoder.encode_mention_rows, bar)


def embed_forms(
    kb: KnowledgeBase, encoder: Encoder, gold: LinkedMentions, *, show_progress: bool = False
) -> Iterator[Chunk]:
    """Embed the surface forms by which annotated text calls entities that have no such name. Plain words in
    capitals have no such row: an encoder without capitals would read HIT as a hit."""
    forms: dict[tuple[int, str], str] = {}  # by entity and normal form
    for row, mention in zip(gold.kb_rows.tolist(), gold.mentions, strict=True):
        if not (form := counted_form(mention.surface)).isupper():
            forms.setdefault((row, form), mention.surface)
    rows = np.unique(gold.kb_rows)
    names, offsets = kb.normalized_names_at(rows)
    for row, (start, end) in zip(rows.tolist(), pairwise(offsets.tolist()), strict=True):
        for name in ("", *names[start:end]):
            forms.pop((row, name), None)
    pairs = sorted(((row, form) for (row, _), form in forms.items()), key=itemgetter(0))
    bar = progress_bar("Embedding form rows", len(pairs), show=show_progress)
    yield from _chunks("form", pairs, encoder.encode_names, bar)


def _chunks(
    kind: str, items: Iterable[tuple[int, Item]], encode: Callable[[Sequence[Item]], Vectors], bar: Any
) -> Iterator[Chunk]:
    """Encode a stream chunk by chunk; within a chunk equal items are encoded once."""
    stream, last = iter(items), -1
    with bar:
        while chunk := list(islice(stream, _CHUNK)):
            unique, of_chunk = numbered(item for _, item in chunk)
            kb_rows = np.array([row for row, _ in chunk], dtype=np.int64)
            # the bar of names counts entities; one may have names in two chunks
            new = int((np.diff(kb_rows, prepend=last) != 0).sum()) if kind == "alias" else len(chunk)
            last = int(kb_rows[-1])
            vectors = [encode(unique)[of_chunk]]
            bar.update(new)
            # popped, so that they are not kept while the next ones are computed
            yield Chunk(kind, kb_rows, hash_texts("alias" if kind == "form" else kind, unique)[of_chunk], vectors.pop())
