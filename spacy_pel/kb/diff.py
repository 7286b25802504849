"""What changed between two knowledge bases."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from ..types import Entity
from ..util import progress
from .knowledge_base import KnowledgeBase

_FIELDS = ("canonical_name", "aliases", "types", "definition", "xrefs", "parents")
_BATCH = 4096


@dataclass
class Diff:
    """The changes from an old to a new knowledge base, by id.

    Attributes:
        added: ids that only the new one has.
        removed: ids that only the old one has, and their successors.
        changed: ids of both, and the fields that differ (the order in lists does not
            count).
    """

    added: list[str] = field(default_factory=list)
    removed: dict[str, str | None] = field(default_factory=dict)
    changed: dict[str, list[str]] = field(default_factory=dict)


def diff(old: KnowledgeBase, new: KnowledgeBase, *, show_progress: bool = False) -> Diff:
    """Compare live entities by id. Memory grows with the differences, not with the entities.

    Returns:
        Ids in the order of the rows.
    """
    changes = Diff()
    if old.fingerprint == new.fingerprint:
        return changes
    rows = progress(new.live_rows.tolist(), description="Comparing new entities", total=len(new), show=show_progress)
    for batch in _batches(rows):
        entities = new.entities_at(batch)
        states = old.states([entity.concept_id for entity in entities])
        for entity, before in zip(entities, states, strict=True):
            if before.entity is None or not before.live:
                changes.added.append(entity.concept_id)
            elif fields := _differences(before.entity, entity):
                changes.changed[entity.concept_id] = fields
    rows = progress(old.live_rows.tolist(), description="Comparing old entities", total=len(old), show=show_progress)
    for batch in _batches(rows):
        for entity_id in old.ids_at(batch):
            successor = new.resolve(entity_id)
            if successor != entity_id:
                changes.removed[entity_id] = successor
    return changes


def _batches(rows: Iterator[int]) -> Iterator[list[int]]:
    return iter(lambda: list(islice(rows, _BATCH)), [])


def _differences(old: Entity, new: Entity) -> list[str]:
    if old == new:
        return []
    return [name for name in _FIELDS if _unordered(getattr(old, name)) != _unordered(getattr(new, name))]


def _unordered(value: object) -> object:
    return set(value) if isinstance(value, tuple) else value
