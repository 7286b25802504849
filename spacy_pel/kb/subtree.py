"""The part of a knowledge base below some of its entities."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..errors import Errors, PelError
from ..types import Entity
from .near_ids import did_you_mean_id

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase


def subtree(kb: "KnowledgeBase", ids: Sequence[str]) -> tuple[Iterator[Entity], dict[str, str]]:
    """Choose the entities with these ids, and all narrower ones (is-a).

    Args:
        kb: source; retired entities are left out.
        ids: of entities.

    Returns:
        The entities, in the order of the knowledge base, and the redirects to them.

    Raises:
        PelError: if an id is unknown, or no entity has a broader one.
    """
    for entity_id in ids:
        if entity_id not in kb:
            raise PelError(Errors.E145.format(id=entity_id, hint=did_you_mean_id(kb, entity_id)))
    if not kb.field_counts()["parents"]:
        raise PelError(Errors.E146.format(ids=", ".join(ids)))
    mask = kb.rows_below(ids)
    redirects = kb.redirects()
    rows = kb.rows(list(redirects))
    lead_there = (rows >= 0) & mask[rows]
    kept = {old: new for (old, new), is_kept in zip(redirects.items(), lead_there, strict=True) if is_kept}
    return (entity for (entity, _), is_below in zip(kb.items(), mask, strict=True) if is_below), kept
