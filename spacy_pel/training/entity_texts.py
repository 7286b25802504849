"""Entities without some of their names: what a model reads must not give the answer away."""

from collections.abc import Collection
from dataclasses import replace

from ..kb import KnowledgeBase
from ..types import Entity
from ..util import normalize_alias


def without_names(entity: Entity, hidden: Collection[str]) -> Entity:
    """Without the names whose normal form is hidden; the same entity if it has none of these, or no other name."""
    names = [entity.canonical_name, *entity.aliases]
    shown = [name for name in names if normalize_alias(name) not in hidden]
    if not shown or len(shown) == len(names):
        return entity
    return replace(entity, canonical_name=shown[0], aliases=tuple(shown[1:]))


class EntityTexts:
    """Distinct entities of a knowledge base, some of them without some of their names.

    Args:
        kb: holds the entities.
    """

    def __init__(self, kb: KnowledgeBase):
        self.kb = kb
        self.entities: list[Entity] = []
        self._positions: dict[tuple[int, tuple[str, ...]], int] = {}

    def position(self, row: int, hidden: tuple[str, ...] = ()) -> int:
        """Position in ``entities`` of the entity of a KB row without the hidden names, which are in normal form."""
        key = (row, hidden)
        if key not in self._positions:
            whole = self._positions.get((row, ()))
            entity = self.kb.entity_at(row) if whole is None else self.entities[whole]
            shown = without_names(entity, hidden)
            if hidden and shown is entity:
                self._positions[key] = self.position(row)
            else:
                self._positions[key] = len(self.entities)
                self.entities.append(shown)
        return self._positions[key]
