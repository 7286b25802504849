"""Adding, changing and retiring entities; all checks are made before the first change.

What a curator does here is an edit, see ``store/edits.py``; ``follow_release`` makes the source's changes.
"""

from dataclasses import asdict, dataclass, field, replace
from typing import Dict, Iterable, List, Mapping, Optional

import numpy as np

from ..errors import Errors, PelError
from ..types import Entity, Rows
from .readers.repair import Repairs
from .store.edits import Edit, State, renamed
from .store.merged_store import MergedStore


def add_entities(merged: MergedStore, entities: Iterable[Entity]) -> Rows:
    """RETURNS (NDArray[int64]): the rows of the new entities."""
    new = _checked(entities)
    rows = merged.find_ids([entity.concept_id for entity in new])
    for entity, row in zip(new, rows.tolist(), strict=True):
        if row >= 0 and merged.live[row]:
            raise PelError(Errors.E101.format(id=entity.concept_id))
    return _put(merged, new, rows)


def put_entities(merged: MergedStore, entities: Iterable[Entity]) -> Rows:
    """RETURNS (NDArray[int64]): the rows of the new or replaced entities."""
    new = _checked(entities)
    return _put(merged, new, merged.find_ids([entity.concept_id for entity in new]))


def update_entities(merged: MergedStore, entities: Iterable[Entity]) -> Rows:
    """RETURNS (NDArray[int64]): the rows of the changed entities."""
    changed = _checked(entities)
    return _put(merged, changed, _live_rows(merged, [entity.concept_id for entity in changed]))


def retire_entities(merged: MergedStore, ids: Iterable[str], successor: Mapping[str, str]) -> Rows:
    """RETURNS (NDArray[int64]): the rows of the retired entities."""
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
        replaced_by = successors.get(entity_id)
        edit = _known(merged, entity_id, state).retire(replaced_by)
        _edit(merged, entity_id, state, State(state.entity, False, replaced_by), edit)
    return rows


def rename_entities(merged: MergedStore, names: Mapping[str, str], *, keep_old: bool) -> Rows:
    """RETURNS (NDArray[int64]): the rows of the entities that changed."""
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
            state = State(old, True)
            edit = _known(merged, old.concept_id, state).rename(entity.canonical_name, keep_old)
            _edit(merged, old.concept_id, state, State(entity, True), edit)
    return rows[np.array(changed, dtype=np.bool_)]


def withdraw_edits(merged: MergedStore, ids: Iterable[str]) -> Rows:
    """RETURNS (NDArray[int64]): the rows of the entities, which are as the source has them again."""
    if isinstance(ids, str):
        raise PelError(Errors.E115.format(wanted="ids", got=repr(ids)))
    edits = {entity_id: merged.edits.get(entity_id) for entity_id in ids}
    rows = []
    for entity_id, edit in edits.items():
        if edit is None:
            raise PelError(Errors.E126.format(id=entity_id))
    for entity_id, edit in edits.items():
        if edit is not None:
            rows.append(merged.set_state(entity_id, edit.release))
            merged.set_edit(entity_id, None)
    return np.array(rows, dtype=np.int64)


@dataclass
class Update:
    """What several changes did, by id.

    added, replaced, retired (List[str]): entities of the knowledge base that changed.
    unchanged (int): how many entities were as they should be.
    edited (List[str]): entities that differ from the release, since a curator edited them ...
    conflicts (Dict[str, str]): and among them, what the release changed of those that it changed.
    """

    added: List[str] = field(default_factory=list)
    replaced: List[str] = field(default_factory=list)
    retired: List[str] = field(default_factory=list)
    unchanged: int = 0
    edited: List[str] = field(default_factory=list)
    conflicts: Dict[str, str] = field(default_factory=dict)

    def note(self, entity_id: str, before: State, after: State) -> None:
        """Note how an entity changed."""
        if after.agrees(before):
            self.unchanged += after.live
        elif before.live or after.live:
            kinds = {(False, True): self.added, (True, True): self.replaced, (True, False): self.retired}
            kinds[before.live, after.live].append(entity_id)

    def rows(self, merged: MergedStore) -> Rows:
        """RETURNS (NDArray[int64]): the rows of the entities that changed."""
        return merged.find_ids([*self.added, *self.replaced, *self.retired])


def follow_release(
    merged: MergedStore, entities: Iterable[Entity], retired: Mapping[str, Optional[str]]
) -> Update:
    """RETURNS (Update): what changed."""
    given = {entity.concept_id: entity for entity in _checked(entities)}
    ids = list(dict.fromkeys((*given, *retired)))
    update = Update()
    for entity_id, current in zip(ids, merged.states(ids), strict=True):
        edit = merged.edits.get(entity_id)
        before = current if edit is None else edit.release
        if entity_id in given:
            after = State(given[entity_id], True)
        else:
            after = State(before.entity, False, retired[entity_id])
        if edit is not None:
            edit, release = replace(edit, release=after), after
            after = edit.applied(current.entity)
            merged.set_edit(entity_id, edit)
            if not after.agrees(release):
                update.edited.append(entity_id)
                if not release.agrees(before):
                    update.conflicts[entity_id] = _difference(before, release)
        if not after.agrees(current):
            merged.set_state(entity_id, after)
        update.note(entity_id, current, after)
    return update


def edit_entities(
    merged: MergedStore, entities: Iterable[Entity], retired: Mapping[str, Optional[str]]
) -> Update:
    """RETURNS (Update): what changed."""
    given = _checked(entities)
    ids = list(dict.fromkeys((*(entity.concept_id for entity in given), *retired)))
    before = merged.states(ids)
    live = [one for one, state in zip(ids, before, strict=True) if one in retired and state.live]
    put_entities(merged, given)
    retire_entities(merged, live, {one: new for one, new in retired.items() if new is not None})
    update = Update()
    for entity_id, old, new in zip(ids, before, merged.states(ids), strict=True):
        update.note(entity_id, old, new)
    return update


def _difference(before: State, after: State) -> str:
    if not after.live:
        return "retired" if after.successor is None else f"retired in favour of {after.successor}"
    if not before.live or before.entity is None or after.entity is None:
        return "added"
    old, new = asdict(before.entity), asdict(after.entity)
    return "changed: " + ", ".join(name for name, value in new.items() if old[name] != value)


def _put(merged: MergedStore, entities: List[Entity], rows: Rows) -> Rows:
    unknown = rows < 0
    rows[unknown] = merged.counts["rows"] + np.arange(int(unknown.sum()))
    states = merged.states([entity.concept_id for entity in entities])
    for entity, state in zip(entities, states, strict=True):
        _edit(
            merged,
            entity.concept_id,
            state,
            State(entity, True),
            _known(merged, entity.concept_id, state).put(),
        )
    return rows


def _known(merged: MergedStore, entity_id: str, state: State) -> Edit:
    """RETURNS (Edit): that of an entity; for one that was not edited, with what it is."""
    return merged.edits.get(entity_id) or Edit(state)


def _edit(merged: MergedStore, entity_id: str, before: State, after: State, edit: Edit) -> None:
    """Change an entity, and note the edit unless it leaves the entity as the source has it."""
    if after.agrees(before):
        return
    merged.set_state(entity_id, after)
    merged.set_edit(entity_id, None if after.agrees(edit.release) else edit)


def _live_rows(merged: MergedStore, ids: List[str]) -> Rows:
    rows = merged.find_ids(ids)
    for entity_id, row in zip(ids, rows.tolist(), strict=True):
        if row < 0:
            raise PelError(Errors.E100.format(id=entity_id, n=merged.counts["entities"]))
        if not merged.live[row]:
            new = merged.redirect(entity_id)
            successor = "without a successor" if new is None else f"its successor is '{new}'"
            raise PelError(Errors.E114.format(id=entity_id, successor=successor))
    return rows


def _checked(entities: Iterable[Entity]) -> List[Entity]:
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
