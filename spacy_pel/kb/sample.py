"""A part of a knowledge base, drawn at random: for trials that need not take hours."""

from typing import Iterable, Iterator

import numpy as np

from ..types import Document, Entity
from .knowledge_base import KnowledgeBase


def sample_entities(
    kb: KnowledgeBase, *, share: float, seed: int = 0, documents: Iterable[Document] = ()
) -> Iterator[Entity]:
    """Draw entities; the same seed draws the same ones. What links to a part of a knowledge base has fewer
    entities to confuse: its recall is higher than on the whole, and only differences carry over.

    kb (KnowledgeBase): drawn from; retired entities are left out.
    share (float): of the entities that the documents do not name, 0 to 1.
    seed (int): of the draw.
    documents (Iterable[Document]): the entities of their mentions are kept, all of them.
    YIELDS (Entity): in the order of the knowledge base.
    """
    ids = sorted({id_ for document in documents for mention in document.mentions for id_ in mention.ids})
    named = kb.rows(ids) if ids else np.empty(0, dtype=np.int64)
    others = np.setdiff1d(kb.live_rows, named)
    drawn = np.random.default_rng(seed).choice(others, round(share * len(others)), replace=False)
    for row in np.union1d(named[named >= 0], drawn):
        yield kb.entity_at(int(row))
