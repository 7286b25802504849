"""A store with changes in memory: entities added, changed or retired since the files were written.

All checks are made before the first change. What a curator does is an edit, see ``edits.py``; ``release`` makes the
source's changes.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa

from ..errors import Errors, PelError
from ..types import Entity, Rows
from ..util import normalize_alias
from ..util.arrays import Offsets, offsets_of
from ..util.name_search import FoundName, search_names
from ..util.xrefs import xref_key
from .arrow_store import ArrowStore, Mask
from .edits import Edit, State, Update, differing_fields, renamed
from .repair import repaired
from .store_writer import StoreWriter, redirect_digest, row_digest, to_fingerprint

Value = TypeVar("Value")


class ChangedStore:
    """A saved store and the changes to it; it gives the same answers as the store that ``write_to`` makes of them.

    Args:
        stored: the saved part, which stays as it is.

    Attributes:
        rows: changed row -> its current entity, and whether it is live.
    """

    def __init__(self, stored: ArrowStore):
        self.stored = stored
        self.path = stored.path
        self.rows: dict[int, tuple[Entity, bool]] = {}
        self._new_rows: dict[str, int] = {}  # beyond the end of the store, by id
        self._redirects: dict[str, str | None] = {}  # None = no longer redirected
        self._edits: dict[str, Edit] | None = None  # all of them; None = as stored
        self._names: dict[int, list[str]] = {}  # changed row -> its distinct normalised names; none if it is retired
        self._rows_by: dict[str, dict[str, dict[int, None]]] = {"name": {}, "xref": {}}
        self._counts: dict[str, int] = dict(stored.meta["counts"])
        self._total = int(stored.meta["fingerprint"], 16)  # of the digests of all rows and redirects

    def __bool__(self) -> bool:
        return bool(self.rows or self._redirects) or self._edits is not None

    # --- as ArrowStore

    @property
    def meta(self) -> dict[str, Any]:
        counts = {**self._counts, "edits": len(self.edits)}
        return {**self.stored.meta, "fingerprint": to_fingerprint(self._total), "counts": counts}

    @property
    def n_rows(self) -> int:
        return self._counts["rows"]

    @property
    def edits(self) -> dict[str, Edit]:
        return self.stored.edits if self._edits is None else self._edits

    @property
    def live(self) -> Mask:
        live = self._extended(self.stored.live)
        live[list(self.rows)] = [is_live for _, is_live in self.rows.values()]
        return live

    def is_live(self, row: int) -> bool:
        return self.rows[row][1] if row in self.rows else self.stored.is_live(row)

    def is_at(self, path: Path) -> bool:
        return not self and self.stored.is_at(path)

    def write_to(self, folder: Path) -> None:
        if not self:
            self.stored.write_to(folder)
            return
        writer = StoreWriter(folder)
        for entity, live in self.items():
            writer.append(entity, live=live)
        writer.finish_entities()
        meta = self.stored.meta
        writer.finish(self.redirects(), meta["source"], report=meta["report"], edits=self.edits)

    def to_bytes(self) -> bytes:
        with TemporaryDirectory(prefix="spacy_pel_kb_") as folder:
            self.write_to(Path(folder))
            return ArrowStore.read(Path(folder)).to_bytes()

    def find_ids(self, ids: Sequence[str]) -> Rows:
        rows = self.stored.find_ids(ids)
        for i in np.flatnonzero(rows < 0).tolist() if self._new_rows else ():
            rows[i] = self._new_rows.get(ids[i], -1)
        return rows

    def find_names(self, names: Sequence[str]) -> list[Rows]:
        return self._found("name", names, self.stored.find_names(names))

    def find_xrefs(self, keys: Sequence[str]) -> list[Rows]:
        return self._found("xref", keys, self.stored.find_xrefs(keys))

    def _found(self, look_up: Literal["name", "xref"], texts: Sequence[str], stored: list[Rows]) -> list[Rows]:
        merged = []
        for text, rows in zip(texts, stored, strict=True):
            changed = self._rows_by[look_up].get(text, ())
            unchanged = [row for row in rows.tolist() if row not in self.rows]
            if changed or len(unchanged) < len(rows):
                rows = np.array(sorted([*unchanged, *changed]), dtype=np.int64)
            merged.append(rows)
        return merged

    def search_names(self, text: str, n: int) -> list[tuple[FoundName, Rows]]:
        hits = [
            (name, np.array([row for row in rows.tolist() if row not in self.rows], dtype=np.int64))
            for name, rows in self.stored.search_names(text, n + len(self.rows))
        ]
        changed = [(name, row) for row, names in self._names.items() for name in names]
        nearest = search_names([pa.array([name for name, _ in changed], type=pa.string())], text, n)
        hits += [(name, np.array([changed[name.position][1]])) for name in nearest]
        return sorted(hits, key=lambda hit: hit[0])

    def successors(self, ids: Sequence[str]) -> list[str | None]:
        return [self._redirects.get(old, new) for old, new in zip(ids, self.stored.successors(ids), strict=True)]

    def redirects(self) -> dict[str, str]:
        merged: dict[str, str | None] = {**self.stored.redirects(), **self._redirects}
        return {old: new for old, new in merged.items() if new is not None}

    def cells_at(self, rows: Rows, *fields: str) -> list[list[Any]]:
        def value_of(entity: Entity, field: str) -> Any:
            value = getattr(entity, field)
            return list(value) if isinstance(value, tuple) else value

        stored = self.stored.cells_at(self._unchanged(rows), *fields)
        return [
            self._merged(rows, cells, lambda row, field=field: value_of(self.rows[row][0], field))  # type: ignore[misc]
            for field, cells in zip(fields, stored, strict=True)
        ]

    def entities_at(self, rows: Rows) -> list[Entity]:
        return self._merged(rows, self.stored.entities_at(self._unchanged(rows)), lambda row: self.rows[row][0])

    def normalized_names_at(self, rows: Rows) -> tuple[list[str], Offsets]:
        names, offsets = self.stored.normalized_names_at(self._unchanged(rows))
        bounds = offsets.tolist()
        stored = [names[start:end] for start, end in zip(bounds[:-1], bounds[1:], strict=True)]
        names_by_row = self._merged(rows, stored, self._names.__getitem__)
        return list(chain.from_iterable(names_by_row)), offsets_of(np.array(list(map(len, names_by_row))))

    def _unchanged(self, rows: Rows) -> Rows:
        return np.array([row for row in rows.tolist() if row not in self.rows], dtype=np.int64)

    def _merged(self, rows: Rows, stored: Iterable[Value], changed: Callable[[int], Value]) -> list[Value]:
        """The values of rows, where ``stored`` has those of the unchanged ones."""
        values = iter(stored)
        return [changed(row) if row in self.rows else next(values) for row in rows.tolist()]

    def items(self) -> Iterator[tuple[Entity, bool]]:
        for row, item in enumerate(self.stored.items()):
            yield self.rows.get(row, item)
        for row in range(self.stored.n_rows, self.n_rows):
            yield self.rows[row]

    def is_a_pairs(self) -> tuple[Rows, list[str], Rows]:
        children, ids, which = self.stored.is_a_pairs()
        is_kept = ~np.isin(children, list(self.rows))
        changed = [(row, parent) for row, (entity, _) in self.rows.items() for parent in entity.parents]
        children = np.concatenate([children[is_kept], np.array([row for row, _ in changed], dtype=np.int64)])
        which = np.concatenate([which[is_kept], len(ids) + np.arange(len(changed))])
        return children, [*ids, *(parent for _, parent in changed)], which

    def type_counts(self, counted: Mask) -> dict[str, int]:
        counts = Counter(self.stored.type_counts(self._stored_part(counted)))
        counts.update(kind for row, (entity, _) in self.rows.items() if counted[row] for kind in entity.types)
        return counts

    def rows_with_types(self, types: frozenset[str]) -> Mask:
        mask = self._extended(self.stored.rows_with_types(types))
        mask[list(self.rows)] = [not types.isdisjoint(entity.types) for entity, _ in self.rows.values()]
        return mask

    def _extended(self, mask: Mask) -> Mask:
        """A mask of the stored rows, made longer for the new ones."""
        return np.append(mask, np.zeros(len(self._new_rows), dtype=bool))

    def _stored_part(self, mask: Mask) -> Mask:
        """Of a mask of all rows: the stored rows, without those that changed."""
        part = mask[: self.stored.n_rows].copy()
        part[[row for row in self.rows if row < len(part)]] = False
        return part

    # --- changes; what the methods do and raise is said in KnowledgeBase

    def put(self, entities: Iterable[Entity], *, are_new: bool | None = None) -> Rows:
        """Add or replace entities; are_new: True = their ids must not be live, False = they must be; None = either."""
        checked = _checked(entities)
        ids = [entity.concept_id for entity in checked]
        states = states_of(self, ids)
        if are_new is False:
            self._live_rows(ids)
        for entity_id, state in zip(ids, states, strict=True):
            if are_new and state.live:
                raise PelError(Errors.E101.format(id=entity_id))
        for entity, state in zip(checked, states, strict=True):
            self._edit(entity.concept_id, state, State(entity, True))
        return self.find_ids(ids)

    def retire(self, ids: Iterable[str], successor: Mapping[str, str]) -> Rows:
        retired = distinct_ids(ids)
        rows = self._live_rows(retired)
        successors = {old: successor[old] for old in retired if old in successor}
        self._live_rows(list(successors.values()))
        for old, new in successors.items():
            if new in retired:
                raise PelError(Errors.E112.format(id=old, got=new))
        for entity_id, state in zip(retired, states_of(self, retired), strict=True):
            self._edit(entity_id, state, State(state.entity, False, successors.get(entity_id)))
        return rows

    def rename(self, names: Mapping[str, str], *, keep_old: bool) -> Rows:
        if not isinstance(names, Mapping):
            raise PelError(Errors.E118.format(got=repr(names)))
        for entity_id, name in names.items():
            if not isinstance(entity_id, str) or not isinstance(name, str):
                raise PelError(Errors.E118.format(got=f"{entity_id!r}: {name!r}"))
            if not any(char.isprintable() and char != " " for char in name):
                raise PelError(Errors.E119.format(id=entity_id))
        rows = self._live_rows(list(names))
        current = self.entities_at(rows)
        new = _checked(renamed(entity, names[entity.concept_id], keep_old=keep_old) for entity in current)
        is_changed = [after != before for before, after in zip(current, new, strict=True)]
        for before, after in zip(current, new, strict=True):
            if after != before:
                self._edit(before.concept_id, State(before, True), State(after, True), (after.canonical_name, keep_old))
        return rows[np.array(is_changed, dtype=np.bool_)]

    def withdraw(self, ids: Iterable[str]) -> Rows:
        edited = distinct_ids(ids)
        for entity_id in edited:
            if entity_id not in self.edits:
                raise PelError(Errors.E126.format(id=entity_id))
        for entity_id in edited:
            self._set_state(entity_id, self.edits[entity_id].release)
            self._set_edit(entity_id, None)
        return self.find_ids(edited)

    def release(self, entities: Iterable[Entity], retired: Mapping[str, str | None], *, as_edits: bool) -> Update:
        given = {entity.concept_id: entity for entity in _checked(entities)}
        ids = list(dict.fromkeys((*given, *retired)))
        update = Update()
        for entity_id, current in zip(ids, states_of(self, ids), strict=True):
            edit = None if as_edits else self.edits.get(entity_id)
            before = current if edit is None else edit.release
            entity, live = given.get(entity_id, before.entity), entity_id not in retired
            release = after = State(entity, live, retired.get(entity_id))
            if as_edits and (current.live or after.live):
                self._edit(entity_id, current, after)
            elif edit is not None:
                self._set_edit(entity_id, edit := replace(edit, release=release))
                after = edit.applied(current.entity)
                if not after.agrees(release):
                    update.edited.append(entity_id)
                    if not release.agrees(before):
                        update.conflicts[entity_id] = _described(before, release)
            if after.agrees(current):
                update.unchanged += after.live
                continue
            if not as_edits:
                self._set_state(entity_id, after)
            update.note(entity_id, current, after)
        return update

    def _edit(self, entity_id: str, before: State, after: State, name: tuple[str, bool] | None = None) -> None:
        """Change an entity, and note the edit unless it leaves the entity as the source has it.

        Args:
            name: the entity was only renamed; whether it keeps the old name.
        """
        if not after.agrees(before):
            edit = (self.edits.get(entity_id) or Edit(before)).then(after, name)
            self._set_state(entity_id, after)
            self._set_edit(entity_id, None if after.agrees(edit.release) else edit)

    def _set_edit(self, entity_id: str, edit: Edit | None) -> None:
        if self._edits is None:
            self._edits = dict(self.stored.edits)
        if edit is None:
            self._edits.pop(entity_id, None)
        else:
            self._edits[entity_id] = edit

    def _set_state(self, entity_id: str, state: State) -> None:
        """Rows stay: an id whose new state has no entity is retired."""
        row = int(self.find_ids([entity_id])[0])
        current = self.entities_at(np.array([row]))[0] if row >= 0 else None
        live = state.live and state.entity is not None
        if (entity := state.entity or current) is not None:
            if current is not None:
                self._count(row, current, self.is_live(row), -1)
            else:
                row = self._new_rows[entity_id] = self.n_rows
                self._counts["rows"] += 1
            self._count(row, entity, live, 1)
            self._put_row(row, entity, live)
        current_successor = self.successors([entity_id])[0]
        if current_successor != state.successor:
            for successor, sign in ((current_successor, -1), (state.successor, 1)):
                if successor is not None:
                    self._total += sign * redirect_digest(entity_id, successor)
                    self._counts["redirects"] += sign
            self._redirects[entity_id] = state.successor

    def _count(self, row: int, entity: Entity, live: bool, sign: int) -> None:
        self._total += sign * row_digest(row, entity, live)
        self._counts["entities"] += sign * live
        self._counts["aliases"] += sign * live * len(entity.aliases)

    def _put_row(self, row: int, entity: Entity, live: bool) -> None:
        for look_up, text in self._texts(row):
            del self._rows_by[look_up][text][row]
        self.rows[row] = (entity, live)
        names = (entity.canonical_name, *entity.aliases) if live else ()
        self._names[row] = list(dict.fromkeys(map(normalize_alias, names)))
        for look_up, text in self._texts(row):
            self._rows_by[look_up].setdefault(text, {})[row] = None

    def _texts(self, row: int) -> Iterator[tuple[str, str]]:
        """By which look-ups a changed row is found, and by what."""
        entity, live = self.rows.get(row, (None, False))
        yield from (("name", name) for name in self._names.get(row, ()))
        yield from (("xref", key) for key in set(map(xref_key, entity.xrefs if entity is not None and live else ())))

    def _live_rows(self, ids: list[str]) -> Rows:
        rows = self.find_ids(ids)
        for entity_id, row in zip(ids, rows.tolist(), strict=True):
            if row < 0:
                raise PelError(Errors.E100.format(id=entity_id, n=self._counts["entities"]))
            if not self.is_live(row):
                new = self.successors([entity_id])[0]
                successor = "without a successor" if new is None else f"its successor is '{new}'"
                raise PelError(Errors.E114.format(id=entity_id, successor=successor))
        return rows


Store = ArrowStore | ChangedStore


def states_of(store: Store, ids: Sequence[str]) -> list[State]:
    """What there is for each id."""
    rows = store.find_ids(ids)
    entities = iter(store.entities_at(rows[rows >= 0]))
    states = []
    for row, successor in zip(rows.tolist(), store.successors(ids), strict=True):
        live = row >= 0 and store.is_live(row)
        states.append(State(next(entities) if row >= 0 else None, live, None if live else successor))
    return states


def distinct_ids(ids: Iterable[str]) -> list[str]:
    """Raises:
    PelError: if they are one string.
    """
    if isinstance(ids, str):
        raise PelError(Errors.E115.format(wanted="ids", got=repr(ids)))
    return list(dict.fromkeys(ids))


def _described(before: State, after: State) -> str:
    """What a release changed."""
    if not after.live:
        return "retired" if after.successor is None else f"retired in favour of {after.successor}"
    return f"changed ({', '.join(differing_fields(before.entity, after.entity))})" if before.live else "added"


def _checked(entities: Iterable[Entity]) -> list[Entity]:
    if isinstance(entities, Entity):
        raise PelError(Errors.E115.format(wanted="entities", got=f"Entity({entities.concept_id!r}, …)"))
    checked: dict[str, Entity] = {}
    for entity in entities:
        if not isinstance(entity, Entity):
            raise PelError(Errors.E116.format(wanted="entities of type spacy_pel.Entity", got=repr(entity)))
        whole = repaired(entity, lambda kind, entity_id: None)
        if whole is None:
            raise PelError(Errors.E117.format(entity=entity))
        if whole.concept_id in checked:
            raise PelError(Errors.E113.format(id=whole.concept_id))
        checked[whole.concept_id] = whole
    return list(checked.values())
