"""Check the content of a knowledge base against its fingerprint."""

from itertools import islice

import numpy as np

from ...util.saved_folder import damaged
from ..knowledge_base import KnowledgeBase
from .digest import redirect_digest, row_digest, to_fingerprint
from .store_writer import KIND

_BATCH = 4096


def check_content(kb: KnowledgeBase) -> None:
    """Read every entity and redirect, compare them with the fingerprint, and look each one up.

    Opening compares only the sizes of the files; this finds changed bytes too.

    Args:
        kb: any.

    Raises:
        PelError: if the content is not what was written.
    """
    where = kb.path or "the given bytes"
    kb.validate()
    total = sum(redirect_digest(old, new) for old, new in kb.redirects().items())
    items, start = kb.items(), 0
    while batch := list(islice(items, _BATCH)):
        total += sum(row_digest(start + i, entity, live) for i, (entity, live) in enumerate(batch))
        rows = start + np.flatnonzero([live for _, live in batch])
        entities = [entity for entity, live in batch if live]
        by_name = kb.rows_of_aliases([entity.canonical_name for entity in entities])
        found = all(row in hits for row, hits in zip(rows, by_name, strict=True))
        if not found or (kb.rows([entity.concept_id for entity in entities]) != rows).any():
            raise damaged(where, KIND, "look-up tables of its entities", "damaged ones")
        start += len(batch)
    if to_fingerprint(total) != kb.fingerprint:
        raise damaged(where, KIND, f"content with the fingerprint {kb.fingerprint}", to_fingerprint(total))
