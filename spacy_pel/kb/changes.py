"""Adding, changing and retiring entities; all checks are made before the first change."""

from dataclasses import replace
from typing import Iterable, List, Mapping

import numpy as np

from ..errors import Errors, PelError
from ..types import Entity, Rows
from .readers.repair import Repairs
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
    rows = _live_rows(merged, [entity.concept_id for entity in changed])
    for entity, row in zip(changed, rows.tolist(), strict=True):
        merged.put(row, entity, live=True)
    return rows


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
    for entity_id, row in zip(retired, rows.tolist(), strict=True):
        merged.put(row, merged.entity_at(row), live=False)
        merged.set_redirect(entity_id, successors.get(entity_id))
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
    renamed = _checked(_renamed(entity, names[entity.concept_id], keep_old) for entity in current)
    changed = [new != old for new, old in zip(renamed, current, strict=True)]
    for row, entity, is_changed in zip(rows.tolist(), renamed, changed, strict=True):
        if is_changed:
            merged.put(row, entity, live=True)
    return rows[np.array(changed, dtype=np.bool_)]


def _renamed(entity: Entity, name: str, keep_old: bool) -> Entity:
    old, name = entity.canonical_name, name.strip()
    aliases = [alias for alias in (old, *entity.aliases) if alias != name and (keep_old or alias != old)]
    return replace(entity, canonical_name=name, aliases=tuple(dict.fromkeys(aliases)))


def _put(merged: MergedStore, entities: List[Entity], rows: Rows) -> Rows:
    unknown = rows < 0
    rows[unknown] = merged.counts["rows"] + np.arange(int(unknown.sum()))
    for entity, row in zip(entities, rows.tolist(), strict=True):
        merged.put(row, entity, live=True)
        merged.set_redirect(entity.concept_id, None)
    return rows


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
