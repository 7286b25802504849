"""Adding, changing and retiring entities; all checks are made before the first change.

What a curator does here is an edit, see ``store/edits.py``; ``follow_release`` makes the source's changes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ..errors import Errors, PelError
from ..types import Entity, Rows
from .readers.repair import Repairs
from .store.edits import Edit, State, renamed
from .store.merged_store import MergedStore


def add_entities(merged: MergedStore, entities: Iterable[Entity]) -> Rows:
    """The rows of the new entities."""
    new = _checked(entities)
    rows = merged.find_ids([entity.concept_id for entity in new])
    for entity, row in zip(new, rows.tolist(), strict=True):
        if row >= 0 and merged.live[row]:
            raise PelError(Errors.E101.format(id=entity.concept_id))
    return _put(merged, new)


def put_entities(merged: MergedStore, entities: Iterable[Entity]) -> Rows:
    """The rows of the new or replaced entities."""
    return _put(merged, _checked(entities))


def update_entities(merged: MergedStore, entities: Iterable[Entity]) -> Rows:
    """The rows of the changed entities."""
    changed = _checked(entities)
    _live_rows(merged, [entity.concept_id for entity in changed])
    return _put(merged, changed)


def retire_entities(merged: MergedStore, ids: Iterable[str], successor: Mapping[str, str]) -> Rows:
    """The rows of the retired entities."""
    if isinstance(ids, str):
        raise PelError(Errors.E115.format(wanted="ids", got=repr(ids)))
    retired = dict.fromkeys(ids)
    rows = _live_rows(merged, list(retired))
    successors = {old: successor[old] for old in retired if old in successor}
    _live_rows(merged, list(successors.values()))
    for old, new in successors.items():
        if new in retired:
            raise PelError(Errors.E112.format(id=old, got=new))
    for entity_id, state in zip(retired, merged.states(list(retired)), strict=True):
        _edit(merged, entity_id, state, State(state.entity, False, successors.get(entity_id)))
    return rows


def rename_entities(merged: MergedStore, names: Mapping[str, str], *, keep_old: bool) -> Rows:
    """The rows of the entities that changed."""
    if not isinstance(names, Mapping):
        raise PelError(Errors.E118.format(got=repr(names)))
    for pair in names.items():
        if not all(isinstance(text, str) for text in pair):
            raise PelError(Errors.E118.format(got=f"{pair[0]!r}: {pair[1]!r}"))
        if not any(char.isprintable() and char != " " for char in pair[1]):
            raise PelError(Errors.E119.format(id=pair[0]))
    rows = _live_rows(merged, list(names))
    current = [merged.entity_at(row) for row in rows.tolist()]
    new = _checked(renamed(entity, names[entity.concept_id], keep_old=keep_old) for entity in current)
    changed = [one != old for one, old in zip(new, current, strict=True)]
    for old, entity, is_changed in zip(current, new, changed, strict=True):
        if is_changed:
            name = (entity.canonical_name, keep_old)
            _edit(merged, old.concept_id, State(old, True), State(entity, True), name)
    return rows[np.array(changed, dtype=np.bool_)]


def withdraw_edits(merged: MergedStore, ids: Iterable[str]) -> Rows:
    """The rows of the entities, which are as the source has them again."""
    if isinstance(ids, str):
        raise PelError(Errors.E115.format(wanted="ids", got=repr(ids)))
    edited = list(dict.fromkeys(ids))
    for entity_id in edited:
        if entity_id not in merged.edits:
            raise PelError(Errors.E126.format(id=entity_id))
    for entity_id in edited:
        merged.set_state(entity_id, merged.edits[entity_id].release)
        merged.set_edit(entity_id, None)
    return merged.find_ids(edited)


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
    merged: MergedStore, entities: Iterable[Entity], retired: Mapping[str, str | None], *, as_edits: bool = False
) -> Update:
    """What changed."""
    given = {entity.concept_id: entity for entity in _checked(entities)}
    ids = list(dict.fromkeys((*given, *retired)))
    update = Update()
    kinds = {(False, True): update.added, (True, True): update.replaced, (True, False): update.retired}
    for entity_id, current in zip(ids, merged.states(ids), strict=True):
        edit = None if as_edits else merged.edits.get(entity_id)
        before = current if edit is None else edit.release
        entity, live = given.get(entity_id, before.entity), entity_id not in retired
        release = after = State(entity, live, retired.get(entity_id))
        if as_edits and (current.live or after.live):
            _edit(merged, entity_id, current, after)
        elif not as_edits and edit is not None:
            merged.set_edit(entity_id, edit := replace(edit, release=release))
            after = edit.applied(current.entity)
            if not after.agrees(release):
                update.edited.append(entity_id)
                if not release.agrees(before):
                    update.conflicts[entity_id] = _difference(before, release)
        if after.agrees(current):
            update.unchanged += after.live
            continue
        if not as_edits:
            merged.set_state(entity_id, after)
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


def _put(merged: MergedStore, entities: list[Entity]) -> Rows:
    ids = [entity.concept_id for entity in entities]
    for entity, state in zip(entities, merged.states(ids), strict=True):
        _edit(merged, entity.concept_id, state, State(entity, True))
    return merged.find_ids(ids)


def _edit(
    merged: MergedStore, entity_id: str, before: State, after: State, name: tuple[str, bool] | None = None
) -> None:
    """Change an entity, and note the edit unless it leaves the entity as the source has it.

    Args:
        name: the entity was only renamed; whether it keeps the old name.
    """
    if after.agrees(before):
        return
    edit = (merged.edits.get(entity_id) or Edit(before)).then(after, name)
    merged.set_state(entity_id, after)
    merged.set_edit(entity_id, None if after.agrees(edit.release) else edit)


def _live_rows(merged: MergedStore, ids: list[str]) -> Rows:
    rows = merged.find_ids(ids)
    for entity_id, row in zip(ids, rows.tolist(), strict=True):
        if row < 0:
            raise PelError(Errors.E100.format(id=entity_id, n=merged.counts["entities"]))
        if not merged.live[row]:
            new = merged.redirect(entity_id)
            successor = "without a successor" if new is None else f"its successor is '{new}'"
            raise PelError(Errors.E114.format(id=entity_id, successor=successor))
    return rows


def _checked(entities: Iterable[Entity]) -> list[Entity]:
    if isinstance(entities, Entity):
        raise PelError(Errors.E115.format(wanted="entities", got=entities))
    repairs, checked, seen = Repairs(), [], set()
    for entity in entities:
        if not isinstance(entity, Entity):
            raise PelError(Errors.E116.format(wanted="entities of type spacy_pel.Entity", got=repr(entity)))
        repaired = repairs(entity)
        if repaired is None:
            raise PelError(Errors.E117.format(entity=entity))
        if repaired.concept_id in seen:
            raise PelError(Errors.E113.format(id=repaired.concept_id))
        seen.add(repaired.concept_id)
        checked.append(repaired)
    return checked
