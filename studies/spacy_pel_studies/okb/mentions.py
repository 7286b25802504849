"""The gold mentions of a corpus as rows of the knowledge base, before and after entities are removed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Mention
from spacy_pel.util import normalize_alias

from .choice import Mask

META = "okb"  # the key of a document's meta that keeps the original ids


class Naming(NamedTuple):
    """The entities that a mention names.

    Attributes:
        surface: its surface form, normalised.
        rows: the KB rows of its gold entities; empty = NIL from the start.
        left: those that are not removed.
    """

    surface: str
    rows: tuple[int, ...]
    left: tuple[int, ...]

    @property
    def is_okb(self) -> bool:
        """Whether it became NIL."""
        return bool(self.rows) and not self.left


def rows_of_ids(kb: KnowledgeBase, documents: Iterable[Document]) -> dict[str, int]:
    """Gold id -> KB row, redirects followed; without ids that the KB lacks."""
    ids = list(dict.fromkeys(found for document in documents for mention in document.mentions for found in mention.ids))
    return {found: row for found, row in zip(ids, kb.rows(ids).tolist(), strict=True) if row >= 0}


def namings(documents: Iterable[Document], rows: Mapping[str, int], removed: Mask) -> list[Naming]:
    """One for each mention, in order."""
    found = []
    for document in documents:
        for mention in document.mentions:
            named = tuple(dict.fromkeys(rows[each] for each in mention.ids if each in rows))
            left = tuple(row for row in named if not removed[row])
            found.append(Naming(normalize_alias(document.text[mention.start : mention.end]), named, left))
    return found


def without_removed(document: Document, rows: Mapping[str, int], removed: Mask) -> Document:
    """Take the ids of removed entities out of a document. A mention without remaining ids is NIL; a
    mention with several ids keeps the others.

    Args:
        document: it is not changed.
        rows: gold id -> KB row.
        removed: by KB row.

    Returns:
        Its meta keeps, under "okb", offsets and original ids of changed mentions.
    """
    mentions: list[Mention] = []
    changed: list[dict[str, Any]] = []
    for mention in document.mentions:
        left = tuple(each for each in mention.ids if each not in rows or not removed[rows[each]])
        if left != mention.ids:
            changed.append({"start": mention.start, "end": mention.end, "ids": list(mention.ids)})
            mention = Mention(mention.start, mention.end, mention.label, left, mention.composite)
        mentions.append(mention)
    meta = {**document.meta, META: changed} if changed else document.meta
    return Document(document.id, document.text, mentions, meta)


def distinct_rows(found: Sequence[Naming]) -> set[int]:
    """The KB rows that mentions name."""
    return {row for naming in found for row in naming.rows}


def share(part: int, whole: int) -> float:
    """0.0 if there are none."""
    return part / whole if whole else 0.0


def any_row(naming: Naming, mask: Mask) -> bool:
    """Whether the mention names an entity of the mask."""
    return bool(np.any(mask[list(naming.rows)]))
