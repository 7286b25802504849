"""What changed between two knowledge bases."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from ..types import Entity
from ..util import progress
from .knowledge_base import KnowledgeBase

_FIELDS = ("canonical_name", "aliases", "types", "definition")
_BATCH = 4096


@dataclass
class Diff:
    """The changes from an old to a new knowledge base, by id.

    Attributes:
        added: ids that only the new one has.
        removed: ids that only the old one has, and their successors.
        changed: ids of both, and the fields that differ (the order of aliases and
            types is ignored).
    """

    added: list[str] = field(default_factory=list)
    removed: dict[str, str | None] = field(default_factory=dict)
    changed: dict[str, list[str]] = field(default_factory=dict)


def diff(old: KnowledgeBase, new: KnowledgeBase, *, show_progress: bool = False) -> Diff:
    """Compare live entities by id. Memory grows with the differences, not with the entities.

    Returns:
        Ids in the order of the rows.
    """
    found = Diff()
    if old.fingerprint == new.fingerprint:
        return found
    after = progress(new.entities(), description="Comparing new entities", total=len(new), show=show_progress)
    for batch in _batches(after):
        for entity, before in zip(batch, _same_ids(batch, old), strict=True):
            if before is None:
                found.added.append(entity.concept_id)
            elif fields := _differences(before, entity):
                found.changed[entity.concept_id] = fields
    before_rows = progress(
        old.live_rows.tolist(), description="Comparing old entities", total=len(old), show=show_progress
    )
    while rows := list(islice(before_rows, _BATCH)):
        for entity_id in old.ids_at(rows):
            successor = new.resolve(entity_id)
            if successor != entity_id:
                found.removed[entity_id] = successor
    return found


def _batches(entities: Iterator[Entity]) -> Iterator[list[Entity]]:
    while batch := list(islice(entities, _BATCH)):
        yield batch


def _same_ids(entities: list[Entity], kb: KnowledgeBase) -> list[Entity | None]:
    rows = kb.rows([entity.concept_id for entity in entities]).tolist()
    there = [kb.entity_at(row) if row >= 0 else None for row in rows]
    # a row that was found by a redirect holds another entity
    return [
        other if other is not None and other.concept_id == entity.concept_id else None
        for entity, other in zip(entities, there, strict=True)
    ]


def _differences(old: Entity, new: Entity) -> list[str]:
    if old == new:
        return []
    return [name for name in _FIELDS if _unordered(getattr(old, name)) != _unordered(getattr(new, name))]


def _unordered(value: object) -> object:
    return set(value) if isinstance(value, tuple) else value
