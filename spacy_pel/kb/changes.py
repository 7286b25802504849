"""Adding, changing and retiring entities; all checks are made before the first change.

What a curator does here is an edit, see ``edits.py``; ``follow_release`` makes the source's changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import Errors, PelError
from ..types import Entity, Rows
from .edits import Edit, State, renamed
from .readers.repair import Repairs

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase


def put_entities(kb: "KnowledgeBase", entities: Iterable[Entity], *, are_new: bool | None = None) -> Rows:
    """Add or replace entities.

    Args:
        are_new: True = their ids must not be live, False = they must be; None = either.

    Returns:
        Their rows.
    """
    checked = _checked(entities)
    ids = [entity.concept_id for entity in checked]
    states = kb.states(ids)
    if are_new is False:
        _live_rows(kb, ids)
    for entity_id, state in zip(ids, states, strict=True):
        if are_new and state.live:
            raise PelError(Errors.E101.format(id=entity_id))
    for entity, state in zip(checked, states, strict=True):
        _edit(kb, entity.concept_id, state, State(entity, True))
    return kb.find_ids(ids)


def retire_entities(kb: "KnowledgeBase", ids: Iterable[str], successor: Mapping[str, str]) -> Rows:
    """The rows of the retired entities."""
    retired = _distinct(ids)
    rows = _live_rows(kb, retired)
    successors = {old: successor[old] for old in retired if old in successor}
    _live_rows(kb, list(successors.values()))
    for old, new in successors.items():
        if new in retired:
            raise PelError(Errors.E112.format(id=old, got=new))
    for entity_id, state in zip(retired, kb.states(retired), strict=True):
        _edit(kb, entity_id, state, State(state.entity, False, successors.get(entity_id)))
    return rows


def rename_entities(kb: "KnowledgeBase", names: Mapping[str, str], *, keep_old: bool) -> Rows:
    """The rows of the entities that changed."""
    if not isinstance(names, Mapping):
        raise PelError(Errors.E118.format(got=repr(names)))
    for entity_id, name in names.items():
        if not isinstance(entity_id, str) or not isinstance(name, str):
            raise PelError(Errors.E118.format(got=f"{entity_id!r}: {name!r}"))
        if not any(char.isprintable() and char != " " for char in name):
            raise PelError(Errors.E119.format(id=entity_id))
    rows = _live_rows(kb, list(names))
    current = kb.entities_at(rows)
    new = _checked(renamed(entity, names[entity.concept_id], keep_old=keep_old) for entity in current)
    is_changed = [after != before for before, after in zip(current, new, strict=True)]
    for before, after in zip(current, new, strict=True):
        if after != before:
            _edit(kb, before.concept_id, State(before, True), State(after, True), (after.canonical_name, keep_old))
    return rows[np.array(is_changed, dtype=np.bool_)]


def withdraw_edits(kb: "KnowledgeBase", ids: Iterable[str]) -> Rows:
    """The rows of the entities, which are as the source has them again."""
    edited = _distinct(ids)
    for entity_id in edited:
        if entity_id not in kb.edits:
            raise PelError(Errors.E126.format(id=entity_id))
    for entity_id in edited:
        kb.set_state(entity_id, kb.edits[entity_id].release)
        kb.set_edit(entity_id, None)
    return kb.find_ids(edited)


@dataclass
class Update:
    """What a release or a file of changes did, by id, and what it did not touch.

    Attributes:
        added, replaced, retired: entities that changed.
        unchanged: how many entities were as they should be.
        edited: entities that differ from the release, because a curator edited them ...
        conflicts: and among them, what the release changed of those that it changed.
        obsolete: entities retired without a successor -> ids that may replace them.
        missing: entities that are not named, among those that a release would name.
        n_others: how many other entities there are: of other namespaces or types.
    """

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    retired: list[str] = field(default_factory=list)
    unchanged: int = 0
    edited: list[str] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)
    obsolete: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    n_others: int = 0

    @property
    def changed(self) -> list[str]:
        """The entities that changed."""
        return [*self.added, *self.replaced, *self.retired]


def follow_release(
    kb: "KnowledgeBase", entities: Iterable[Entity], retired: Mapping[str, str | None], *, as_edits: bool = False
) -> Update:
    """What changed."""
    given = {entity.concept_id: entity for entity in _checked(entities)}
    ids = list(dict.fromkeys((*given, *retired)))
    update = Update()
    kinds = {(False, True): update.added, (True, True): update.replaced, (True, False): update.retired}
    for entity_id, current in zip(ids, kb.states(ids), strict=True):
        edit = None if as_edits else kb.edits.get(entity_id)
        before = current if edit is None else edit.release
        entity, live = given.get(entity_id, before.entity), entity_id not in retired
        release = after = State(entity, live, retired.get(entity_id))
        if as_edits and (current.live or after.live):
            _edit(kb, entity_id, current, after)
        elif edit is not None:
            kb.set_edit(entity_id, edit := replace(edit, release=release))
            after = edit.applied(current.entity)
            if not after.agrees(release):
                update.edited.append(entity_id)
                if not release.agrees(before):
                    update.conflicts[entity_id] = _difference(before, release)
        if after.agrees(current):
            update.unchanged += after.live
            continue
        if not as_edits:
            kb.set_state(entity_id, after)
        if current.live or after.live:
            kinds[current.live, after.live].append(entity_id)
    return update


def _difference(before: State, after: State) -> str:
    if not after.live:
        return "retired" if after.successor is None else f"retired in favour of {after.successor}"
    if not before.live or before.entity is None or after.entity is None:
        return "added"
    old, new = asdict(before.entity), asdict(after.entity)
    return f"changed ({', '.join(name for name, value in new.items() if old[name] != value)})"


def _edit(
    kb: "KnowledgeBase", entity_id: str, before: State, after: State, name: tuple[str, bool] | None = None
) -> None:
    """Change an entity, and note the edit unless it leaves the entity as the source has it.

    Args:
        name: the entity was only renamed; whether it keeps the old name.
    """
    if not after.agrees(before):
        edit = (kb.edits.get(entity_id) or Edit(before)).then(after, name)
        kb.set_state(entity_id, after)
        kb.set_edit(entity_id, None if after.agrees(edit.release) else edit)


def _distinct(ids: Iterable[str]) -> list[str]:
    if isinstance(ids, str):
        raise PelError(Errors.E115.format(wanted="ids", got=repr(ids)))
    return list(dict.fromkeys(ids))


def _live_rows(kb: "KnowledgeBase", ids: list[str]) -> Rows:
    rows = kb.find_ids(ids)
    for entity_id, row in zip(ids, rows.tolist(), strict=True):
        if row < 0:
            raise PelError(Errors.E100.format(id=entity_id, n=len(kb)))
        if not kb.is_live(row):
            new = kb.redirect(entity_id)
            successor = "without a successor" if new is None else f"its successor is '{new}'"
            raise PelError(Errors.E114.format(id=entity_id, successor=successor))
    return rows


def _checked(entities: Iterable[Entity]) -> list[Entity]:
    if isinstance(entities, Entity):
        raise PelError(Errors.E115.format(wanted="entities", got=f"Entity({entities.concept_id!r}, …)"))
    repairs, checked = Repairs(), {}
    for entity in entities:
        if not isinstance(entity, Entity):
            raise PelError(Errors.E116.format(wanted="entities of type spacy_pel.Entity", got=repr(entity)))
        repaired = repairs(entity)
        if repaired is None:
            raise PelError(Errors.E117.format(entity=entity))
        if repaired.concept_id in checked:
            raise PelError(Errors.E113.format(id=repaired.concept_id))
        checked[repaired.concept_id] = repaired
    return list(checked.values())
