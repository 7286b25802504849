"""A random sample of a knowledge base, for quick experiments."""

from collections.abc import Iterable, Iterator

import numpy as np

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity


def sample_entities(
    kb: KnowledgeBase, *, share: float, seed: int = 0, documents: Iterable[Document] = ()
) -> Iterator[Entity]:
    """Draw entities at random. Recall on a sample is higher than on the whole knowledge base, as there are
    fewer entities to confuse; use it only to compare methods.

    Args:
        kb: source; retired entities are left out.
        share: share of the entities that are not in the documents, 0 to 1.
        seed: random seed.
        documents: all entities of their mentions are kept.

    Yields:
        In the order of the knowledge base.
    """
    ids = sorted({id_ for document in documents for mention in document.mentions for id_ in mention.ids})
    named = kb.rows(ids) if ids else np.empty(0, dtype=np.int64)
    others = np.setdiff1d(kb.live_rows, named)
    drawn = np.random.default_rng(seed).choice(others, round(share * len(others)), replace=False)
    for row in np.union1d(named[named >= 0], drawn):
        yield kb.entity_at(int(row))
