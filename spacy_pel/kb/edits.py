"""What changes in a knowledge base: what a release or a file changed, and curators' edits.

A release of the source changes the part below an edit, and the edit is applied again on top. Only edited
entities are kept twice, so that each edit can be withdrawn.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar

from pydantic import TypeAdapter

from ..types import Entity
from ..util.console import now
from ..util.saved_folder import Buffer
from .repair import merge_duplicates
from .sources import Origin

FIELDS = ("concept_id", "canonical_name", "aliases", "types", "definition", "xrefs", "parents")


@dataclass
class Update:
    """What changed from one state of a knowledge base to another, by id, and what did not.

    Attributes:
        added: new entities.
        changed: entities that were there before -> the fields that differ.
        extended: those of them that only got more: names, types, codes, parents, a definition.
        retired: entities that are no longer there -> their successors.
        unchanged: how many entities were as they should be.
        edited: entities that differ from the release, because a curator edited them ...
        conflicts: and among them, what the release changed of those that it changed.
        obsolete: entities retired without a successor -> ids that may replace them.
        missing: entities that are not named, among those that a release would name.
        n_others: how many other entities there are: of other namespaces or types.
    """

    added: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    extended: list[str] = field(default_factory=list)
    retired: dict[str, str | None] = field(default_factory=dict)
    unchanged: int = 0
    edited: list[str] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)
    obsolete: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    n_others: int = 0

    @property
    def ids(self) -> list[str]:
        """The entities that changed."""
        return [*self.added, *self.changed, *self.retired]

    def note(self, entity_id: str, before: "State", after: "State") -> None:
        """Note what changed in an entity; one that was not and is not there does not count."""
        if after.live and before.live:
            self.changed[entity_id] = differing_fields(before.entity, after.entity)
            both = [state.entity for state in (before, after) if state.entity]
            if merge_duplicates(both) == after.entity:
                self.extended.append(entity_id)
        elif after.live:
            self.added.append(entity_id)
        elif before.live:
            self.retired[entity_id] = after.successor


def differing_fields(old: Entity | None, new: Entity | None) -> list[str]:
    """The names of the fields in which two entities differ; the order in lists does not count."""

    def unordered(entity: Entity | None, name: str) -> object:
        value = getattr(entity, name, None)
        return set(value) if isinstance(value, tuple) else value

    return [] if old == new else [name for name in FIELDS[1:] if unordered(old, name) != unordered(new, name)]


@dataclass(frozen=True)
class State:
    """What a knowledge base has for an id.

    Attributes:
        entity: the entity, or what it was before it was retired; None = there never was one.
        live: it is not retired.
        successor: the id that replaces it.
    """

    entity: Entity | None = None
    live: bool = False
    successor: str | None = None

    def agrees(self, other: "State") -> bool:
        """Whether both mean the same to a user: what a retired entity was does not count."""
        same_entity = not self.live or self.entity == other.entity
        return (self.live, self.successor) == (other.live, other.successor) and same_entity


@dataclass(frozen=True)
class Edit:
    """How a curator changed an entity.

    Attributes:
        release: what the source has, without the edit.
        at: when it was last edited, in UTC.
        put: the curator gave the whole entity.
        names: otherwise, new canonical names in order, and whether the entity
            keeps its old name as an alias.
        retired: it was then retired.
        successor: in favour of this id.
    """

    release: State
    at: str = ""
    put: bool = False
    names: tuple[tuple[str, bool], ...] = ()
    retired: bool = False
    successor: str | None = None

    def then(self, after: State, name: tuple[str, bool] | None) -> "Edit":
        """The edit after one more change, to ``after``; with ``name``, of the name alone."""
        if name is not None:
            return replace(self, at=now(), names=() if self.put else (*self.names, name))
        if after.live:
            return Edit(self.release, now(), put=True)
        return replace(self, at=now(), retired=True, successor=after.successor)

    def applied(self, current: Entity | None) -> State:
        """Apply the edit to what the source has.

        Args:
            current: what the knowledge base has: the entity that the curator gave, if so.

        Returns:
            The result.
        """
        entity = current if self.put else self.release.entity
        for name, keep_old in self.names:
            entity = entity and renamed(entity, name, keep_old=keep_old)
        return State(entity, not self.retired, self.successor)

    @property
    def kind(self) -> str:
        """ "added", "replaced", "renamed" or "retired", or two of them."""
        put = ("replaced" if self.release.live else "added") if self.put else ""
        steps = (put, "renamed" if self.names else "", "retired" if self.retired else "")
        return ", ".join(filter(None, steps))


def renamed(entity: Entity, name: str, *, keep_old: bool) -> Entity:
    """With another canonical name; the old one becomes an alias, or is lost."""
    old, name = entity.canonical_name, name.strip()
    aliases = [alias for alias in (old, *entity.aliases) if alias != name and (keep_old or alias != old)]
    return replace(entity, canonical_name=name, aliases=tuple(dict.fromkeys(aliases)))


Note = Edit | Origin  # of an entity
NoteT = TypeVar("NoteT", Edit, Origin)


def notes_to_bytes(notes: Mapping[str, Note]) -> bytes:
    """JSON lines."""
    records = ({"concept_id": entity_id, **asdict(note)} for entity_id, note in notes.items())
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode("utf8")


def notes_from_bytes(data: Buffer, kind: type[NoteT]) -> dict[str, NoteT]:
    """From ``notes_to_bytes``, by id.

    Raises:
        ValueError, KeyError, TypeError: if a line is not one of this kind.
    """
    adapter = TypeAdapter(kind)
    records = map(json.loads, str(data, "utf8").rstrip("\n").split("\n"))
    return {record.pop("concept_id"): adapter.validate_python(record) for record in records}
