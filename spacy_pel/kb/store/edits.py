"""Curators' edits: what they changed, and what the source has without it.

A release of the source changes the part below an edit, and the edit is applied again on top. Only edited
entities are kept twice, so that each edit can be withdrawn.
"""

import json
from dataclasses import dataclass, replace
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple

from ...types import Entity
from ...util.clock import now


class State(NamedTuple):
    """What a knowledge base has for an id.

    entity (Optional[Entity]): the entity, or what it was before it was retired; None = there never was one.
    live (bool): it is not retired.
    successor (Optional[str]): the id that replaces it.
    """

    entity: Optional[Entity] = None
    live: bool = False
    successor: Optional[str] = None

    def agrees(self, other: "State") -> bool:
        """RETURNS (bool): whether both mean the same to a user: what a retired entity was does not count."""
        return self[1:] == other[1:] and (not self.live or self.entity == other.entity)


@dataclass(frozen=True)
class Edit:
    """How a curator changed an entity.

    release (State): what the source has, without the edit.
    at (str): when it was last edited, in UTC.
    is_put (bool): the curator gave the whole entity.
    names (Tuple[Tuple[str, bool], ...]): otherwise, new canonical names in order, and whether the entity
        keeps its old name as an alias.
    is_retired (bool): it was then retired.
    successor (Optional[str]): in favour of this id.
    """

    release: State
    at: str = ""
    is_put: bool = False
    names: Tuple[Tuple[str, bool], ...] = ()
    is_retired: bool = False
    successor: Optional[str] = None

    def put(self) -> "Edit":
        """RETURNS (Edit): the edit after the curator gave the whole entity."""
        return Edit(self.release, now(), is_put=True)

    def rename(self, name: str, keep_old: bool) -> "Edit":
        """RETURNS (Edit): the edit after one more renaming."""
        names = () if self.is_put else (*self.names, (name, keep_old))
        return replace(self, at=now(), names=names)

    def retire(self, successor: Optional[str]) -> "Edit":
        """RETURNS (Edit): the edit after the entity was retired."""
        return replace(self, at=now(), is_retired=True, successor=successor)

    def applied(self, current: Optional[Entity]) -> State:
        """Apply the edit to what the source has.

        current (Optional[Entity]): what the knowledge base has: the entity that the curator gave, if so.
        RETURNS (State): the result.
        """
        entity = current if self.is_put else self.release.entity
        for name, keep_old in self.names:
            entity = entity and renamed(entity, name, keep_old=keep_old)
        return State(entity, not self.is_retired, self.successor)

    @property
    def kind(self) -> str:
        """RETURNS (str): "added", "replaced", "renamed" or "retired", or two of them."""
        put = ("replaced" if self.release.live else "added") if self.is_put else ""
        steps = (put, "renamed" if self.names else "", "retired" if self.is_retired else "")
        return ", ".join(filter(None, steps))

    def to_json(self, entity_id: str) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): as JSON."""
        entity = self.release.entity
        return {
            "concept_id": entity_id,
            "at": self.at,
            "put": self.is_put,
            "names": [list(pair) for pair in self.names],
            "retired": self.is_retired,
            "successor": self.successor,
            "release": {**self.release._asdict(), "entity": entity and entity.to_json()},
        }


def renamed(entity: Entity, name: str, *, keep_old: bool) -> Entity:
    """RETURNS (Entity): with another canonical name; the old one becomes an alias, or is lost."""
    old, name = entity.canonical_name, name.strip()
    aliases = [alias for alias in (old, *entity.aliases) if alias != name and (keep_old or alias != old)]
    return replace(entity, canonical_name=name, aliases=tuple(dict.fromkeys(aliases)))


def edits_to_bytes(edits: Mapping[str, Edit]) -> bytes:
    """RETURNS (bytes): JSON lines."""
    lines = (json.dumps(edit.to_json(one), ensure_ascii=False) + "\n" for one, edit in edits.items())
    return "".join(lines).encode("utf8")


def edits_from_lines(lines: Iterable[str]) -> Dict[str, Edit]:
    """RETURNS (Dict[str, Edit]): from ``edits_to_bytes``, by id.

    RAISES (ValueError, KeyError, TypeError): if a line is not an edit.
    """
    edits: Dict[str, Edit] = {}
    for record in map(json.loads, lines):
        release = record["release"]
        entity = release["entity"] and Entity(**release["entity"])
        names: List[Tuple[str, bool]] = [(str(name), bool(keep_old)) for name, keep_old in record["names"]]
        edits[record["concept_id"]] = Edit(
            State(entity, release["live"], release["successor"]),
            record["at"],
            record["put"],
            tuple(names),
            record["retired"],
            record["successor"],
        )
    return edits
