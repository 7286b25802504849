"""What is saved and the changes to it in memory: entities added, changed or retired since the files were written.

All checks are made before the first change. What a curator does is an edit, see ``edits.py``; ``release`` makes the
source's changes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar
from weakref import WeakMethod

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from ..errors import Errors, PelError, quoted
from ..types import Entity, Rows
from ..util import normalize_alias
from ..util.arrays import Offsets, offsets_of
from ..util.arrow_files import FoundName, search_names
from ..util.xrefs import xref_key
from .arrow_store import ArrowStore, Mask
from .edits import Edit, State, Update, differing_fields, renamed
from .repair import repaired
from .sources import BUILT, Origin
from .store_writer import StoreWriter, redirect_digest, row_digest, to_fingerprint

Value = TypeVar("Value")
Listener = Callable[[Any, Rows], None]  # takes the knowledge base and the rows that changed
_NEW, _OF_BUILD = Origin({}), Origin({BUILT: None})


class ChangedStore:
    """The rows of a knowledge base: a saved store, which stays as it is, and the changes to it. It gives the same
    answers as the store that ``write_to`` makes of them."""

    def __init__(self, stored: ArrowStore):
        self._listeners: list[WeakMethod[Listener]] = []
        self._open(stored)

    def _open(self, stored: ArrowStore) -> None:
        """Begin without changes."""
        self.stored = stored
        self.path = stored.path  # the folder it was opened from; None = in memory
        self._rows: dict[int, tuple[Entity, bool]] = {}  # changed row -> its current entity, and whether it is live
        self._new_rows: dict[str, int] = {}  # beyond the end of the store, by id
        self._redirects: dict[str, str | None] = {}  # None = no longer redirected
        self._is_changed = False
        for name in ("edits", "origins"):
            self.__dict__.pop(name, None)
        self._source: dict[str, Any] = stored.meta["source"]  # replaced, not changed
        self._names: dict[int, list[str]] = {}  # changed row -> its distinct normalised names; none if it is retired
        self._rows_by: dict[str, dict[str, dict[int, None]]] = {"name": {}, "xref": {}}
        self._counts: dict[str, int] = dict(stored.meta["counts"])
        self._total = int(stored.meta["fingerprint"], 16)  # of the digests of all rows and redirects
        self._forget_derived()

    def _forget_derived(self) -> None:
        for name in ("live", "live_rows"):
            self.__dict__.pop(name, None)
        # For values that callers compute from rows, by a name of their choice. It is replaced, not emptied, after
        # each change of a row (a thread may be writing to the old one), and neither saved nor pickled.
        self.memo: dict[str, Any] = {}

    def is_at(self, path: Path) -> bool:
        """Whether this is what the folder holds."""
        return not self._is_changed and self.stored.is_at(path)

    def write_to(self, folder: Path) -> None:
        """Write the files to an empty folder, with the changes merged."""
        if not self._is_changed:
            self.stored.write_to(folder)
            return
        writer = StoreWriter(folder)
        for entity, live in self.items():
            writer.append(entity, live=live)
        writer.finish_entities()
        meta = self.meta
        writer.finish(self.redirects(), meta["source"], report=meta["report"], edits=self.edits, origins=self.origins)

    def to_bytes(self) -> bytes:
        """What ``to_disk`` would write.

        Raises:
            PelError: if it is over 2 GiB.
        """
        with TemporaryDirectory(prefix="spacy_pel_kb_") as folder:
            self.write_to(Path(folder))
            return ArrowStore.read(Path(folder)).to_bytes()

    @property
    def meta(self) -> dict[str, Any]:
        """Format, version, fingerprint, counts, source, report of repairs."""
        if not self._is_changed:
            return self.stored.meta
        counts = {**self._counts, "edits": len(self.edits)}
        changed = {"fingerprint": to_fingerprint(self._total), "counts": counts, "source": self._counted_source()}
        return {**self.stored.meta, **changed}

    def _counted_source(self) -> dict[str, Any]:
        """The record of the sources; where there are several, with the entities that each has."""
        added = self._source.get("added", ())
        own = sum(edit.put and not (edit.release.live or edit.retired) for edit in self.edits.values())
        if not added and not own:
            return self._source
        ids, rows = list(self.origins), self.find_ids(list(self.origins))
        live = [entity_id for entity_id, is_live in zip(ids, self.live[rows].tolist(), strict=True) if is_live]
        n = Counter(name for entity_id in live for name in self.origins[entity_id].parts)
        n[BUILT] += self._counts["entities"] - len(live) - own
        counted = [{**record, "entities": n[record["name"]]} for record in added]
        return {**self._source, "entities": n[BUILT], **({"added": counted} if counted else {})}

    @property
    def n_rows(self) -> int:
        """Rows, those of retired entities included."""
        return self._counts["rows"]

    @cached_property
    def edits(self) -> Mapping[str, Edit]:
        """Curators' edits by id, the first edited first."""
        return dict(self.stored.edits)

    @cached_property
    def origins(self) -> Mapping[str, Origin]:
        """The sources of the entities that not the build alone gave, by id."""
        return dict(self.stored.origins)

    # --- look-ups

    def find_ids(self, ids: Sequence[str]) -> Rows:
        """The row of each id, retired or not, without redirects; -1 = unknown."""
        rows = self.stored.find_ids(ids)
        for i in np.flatnonzero(rows < 0).tolist() if self._new_rows else ():
            rows[i] = self._new_rows.get(ids[i], -1)
        return rows

    def _find(self, by: Literal["name", "xref"], texts: Sequence[str]) -> list[Rows]:
        stored = self.stored.find_names(texts) if by == "name" else self.stored.find_xrefs(texts)
        if not self._rows:
            return stored
        return [
            np.array(sorted([*self._unchanged(rows).tolist(), *self._rows_by[by].get(text, ())]), dtype=np.int64)
            for text, rows in zip(texts, stored, strict=True)
        ]

    def _search_names(self, text: str, n: int) -> list[tuple[FoundName, Rows]]:
        stored = self.stored.search_names(text, n + len(self._rows))
        hits = [(name, self._unchanged(rows)) for name, rows in stored]
        changed = [(name, row) for row, names in self._names.items() for name in names]
        nearest = search_names([pa.array([name for name, _ in changed], type=pa.string())], text, n)
        hits += [(name, np.array([changed[name.position][1]])) for name in nearest]
        return sorted(hits, key=lambda hit: hit[0])

    def _successors(self, ids: Sequence[str]) -> list[str | None]:
        """The successor noted for each id, if it was retired with one."""
        return [self._redirects.get(old, new) for old, new in zip(ids, self.stored.successors(ids), strict=True)]

    def redirects(self) -> dict[str, str]:
        """Retired ids and their successors."""
        merged: dict[str, str | None] = {**self.stored.redirects(), **self._redirects}
        return {old: new for old, new in merged.items() if new is not None}

    def states(self, ids: Sequence[str]) -> list[State]:
        """What there is for each id."""
        rows = self.find_ids(ids)
        entities = iter(self.entities_at(rows[rows >= 0]))
        states = []
        for row, successor in zip(rows.tolist(), self._successors(ids), strict=True):
            live = row >= 0 and self._is_live(row)
            states.append(State(next(entities) if row >= 0 else None, live, None if live else successor))
        return states

    # --- by row

    @cached_property
    def live(self) -> Mask:
        """By row; False = retired. Do not write to it."""
        live = self._extended(self.stored.live)
        live[list(self._rows)] = [is_live for _, is_live in self._rows.values()]
        live.flags.writeable = False
        return live

    def _is_live(self, row: int) -> bool:
        return self._rows[row][1] if row in self._rows else bool(self.stored.live[row])

    def cells_at(self, rows: ArrayLike, *fields: str) -> list[list[Any]]:
        """Look up several fields of many entities at once.

        Args:
            rows: live or retired.
            fields: of Entity.

        Returns:
            For each field its values in the rows; several texts are a list.
        """

        def value_of(row: int, field: str) -> Any:
            value = getattr(self._rows[row][0], field)
            return list(value) if isinstance(value, tuple) else value

        rows = self._valid(rows)
        stored = self.stored.cells_at(self._unchanged(rows), *fields)
        return [
            self._merged(rows, cells, lambda row, field=field: value_of(row, field))  # type: ignore[misc]
            for field, cells in zip(fields, stored, strict=True)
        ]

    def entities_at(self, rows: ArrayLike) -> list[Entity]:
        """The entities in rows; for retired ones, as they were."""
        rows = self._valid(rows)
        return self._merged(rows, self.stored.entities_at(self._unchanged(rows)), lambda row: self._rows[row][0])

    def normalized_names_at(self, rows: ArrayLike) -> tuple[list[str], Offsets]:
        """Names in normal form, as stored.

        Args:
            rows: (n,) rows.

        Returns:
            The distinct normalised names of all rows, and (n + 1,)
            offsets: row i has those at ``offsets[i]:offsets[i + 1]``; a retired row has none.
        """
        rows = self._valid(rows)
        names, offsets = self.stored.normalized_names_at(self._unchanged(rows))
        if not self._rows:
            return names, offsets
        stored = [names[start:end] for start, end in pairwise(offsets.tolist())]
        names_by_row = self._merged(rows, stored, self._names.__getitem__)
        return list(chain.from_iterable(names_by_row)), offsets_of(np.array(list(map(len, names_by_row))))

    def _valid(self, rows: ArrayLike) -> Rows:
        valid = np.asarray(rows, dtype=np.int64)
        if len(valid) and not 0 <= valid.min() <= valid.max() < self.n_rows:
            wrong = valid.min() if valid.min() < 0 else valid.max()
            raise PelError(Errors.E110.format(last=self.n_rows - 1, row=wrong))
        return valid

    def _unchanged(self, rows: Rows) -> Rows:
        if not self._rows:
            return rows
        return np.array([row for row in rows.tolist() if row not in self._rows], dtype=np.int64)

    def _merged(self, rows: Rows, stored: list[Value], changed: Callable[[int], Value]) -> list[Value]:
        """The values of rows, where ``stored`` has those of the unchanged ones."""
        if not self._rows:
            return stored
        values = iter(stored)
        return [changed(row) if row in self._rows else next(values) for row in rows.tolist()]

    def items(self) -> Iterator[tuple[Entity, bool]]:
        """Every row in order, and whether it is live."""
        stored = (self._rows.get(row, item) for row, item in enumerate(self.stored.items()))
        return chain(stored, (self._rows[row] for row in self._new_rows.values()))

    def _is_a_pairs(self) -> tuple[Rows, list[str], Rows]:
        children, ids, which = self.stored.is_a_pairs()
        is_kept = ~np.isin(children, list(self._rows))
        changed = [(row, parent) for row, (entity, _) in self._rows.items() for parent in entity.parents]
        children = np.concatenate([children[is_kept], np.array([row for row, _ in changed], dtype=np.int64)])
        which = np.concatenate([which[is_kept], len(ids) + np.arange(len(changed))])
        return children, [*ids, *(parent for _, parent in changed)], which

    def types(self) -> dict[str, int]:
        """Live entities by type, the most frequent type first."""
        counted = self.live[: self.stored.n_rows].copy()
        counted[[row for row in self._rows if row < len(counted)]] = False
        counts = Counter(self.stored.type_counts(counted))
        counts.update(kind for entity, live in self._rows.values() if live for kind in entity.types)
        return most_frequent_first(counts)

    def rows_with_types(self, types: Collection[str]) -> Mask:
        """By row; True = live and of any of these types."""
        mask = self._extended(self.stored.rows_with_types(types))
        mask[list(self._rows)] = [not set(types).isdisjoint(entity.types) for entity, _ in self._rows.values()]
        return mask & self.live

    def _extended(self, mask: Mask) -> Mask:
        """A mask of the stored rows, made longer for the new ones."""
        return np.append(mask, np.zeros(len(self._new_rows), dtype=bool))

    # --- changes

    def put(self, entities: Iterable[Entity]) -> Rows:
        """Add entities, or replace those whose ids are live. One with the id of a retired entity gets the row of that
        entity. Listeners are called once for each call, so pass many entities together.

        Returns:
            Their rows.

        Raises:
            PelError: if an id is given twice; nothing is changed then.
        """
        checked = _checked(entities)
        ids = [entity.concept_id for entity in checked]
        for entity, state in zip(checked, self.states(ids), strict=True):
            self._edit(entity.concept_id, state, State(entity, True))
        return self._notify(self.find_ids(ids))

    def retire(self, ids: Iterable[str], successor: Mapping[str, str] | None = None) -> Rows:
        """Retire entities: names no longer find them, and their ids resolve to their successors, if any.

        Args:
            ids: live ids.
            successor: id -> the id that replaces it.

        Returns:
            Their rows, which stay as tombstones.

        Raises:
            PelError: if an id or a successor is not live, or a successor is that of another id; nothing is changed
                then.
        """
        retired, given = distinct_ids(ids), successor or {}
        rows = self._rows_of_live(retired)
        if not isinstance(given, Mapping) or not given.keys() <= set(retired):
            expected = f"successor to be a dictionary from ids among {quoted(retired)}"
            raise PelError(Errors.E011.format(expected=expected, got=quoted(given)))
        self._rows_of_live(list(given.values()))
        for old, new in given.items():
            if new in retired:
                raise PelError(Errors.E112.format(id=old, got=new))
        for entity_id, state in zip(retired, self.states(retired), strict=True):
            self._edit(entity_id, state, State(state.entity, False, given.get(entity_id)))
        return self._notify(rows)

    def rename(self, names: Mapping[str, str], *, keep_old: bool = True) -> Rows:
        """Give entities other canonical names; ids, types and definitions stay.

        Args:
            names: live id -> its new name.
            keep_old: keep the old name as an alias; otherwise the entity loses it.

        Returns:
            The rows of the entities whose names changed.

        Raises:
            PelError: if an id is not live or a name is empty; nothing is changed then.
        """
        if not isinstance(names, Mapping):
            raise PelError(Errors.E118.format(got=repr(names)))
        for entity_id, name in names.items():
            if not isinstance(entity_id, str) or not isinstance(name, str):
                raise PelError(Errors.E118.format(got=f"{entity_id!r}: {name!r}"))
            if not any(char.isprintable() and char != " " for char in name):
                raise PelError(Errors.E119.format(id=entity_id))
        current = self.entities_at(self._rows_of_live(list(names)))
        new = _checked(renamed(entity, names[entity.concept_id], keep_old=keep_old) for entity in current)
        changed = [(before, after) for before, after in zip(current, new, strict=True) if after != before]
        for before, after in changed:
            self._edit(before.concept_id, State(before, True), State(after, True), (after.canonical_name, keep_old))
        return self._notify(self.find_ids([after.concept_id for _, after in changed]))

    def withdraw(self, ids: Iterable[str]) -> Rows:
        """Withdraw edits: the entities are as the source has them again. One that it lacks is retired.

        Args:
            ids: of edited entities.

        Returns:
            Their rows.

        Raises:
            PelError: if one was not edited; nothing is changed then.
        """
        edited = distinct_ids(ids)
        for entity_id in edited:
            if entity_id not in self.edits:
                raise PelError(Errors.E126.format(id=entity_id))
        for entity_id in edited:
            self._set_state(entity_id, self.edits[entity_id].release)
            self._note(self.edits, entity_id, None)
        return self._notify(self.find_ids(edited))

    def release(
        self,
        entities: Iterable[Entity],
        retired: Mapping[str, str | None],
        *,
        source: str = BUILT,
        lacks: Iterable[str] = (),
        adds: bool = False,
        replaces: bool = False,
        as_edits: bool = False,
    ) -> Update:
        """Take over what a release of a source says: it replaces what the source said of an entity before, and
        nothing else. Where a curator edited an entity, the edit wins: it is applied again to the entity of the release.

        Args:
            entities: new, changed and unchanged ones; others stay as they are.
            retired: ids that are no longer used -> successor.
            source: its name; by default what the knowledge base was built from.
            lacks: ids that the source has no more; entities that no other source has are retired.
            adds: it adds to what it said before.
            replaces: the entities replace what any source says.
            as_edits: they are a curator's edits instead, which win.

        Returns:
            What changed.

        Raises:
            PelError: if an id is given twice; nothing is changed then.
        """
        given = {entity.concept_id: entity for entity in _checked(entities)}
        ids = list(dict.fromkeys((*given, *lacks, *retired)))
        update = Update()
        for entity_id, current in zip(ids, self.states(ids), strict=True):
            edit = None if as_edits else self.edits.get(entity_id)
            before = current if edit is None else edit.release
            entity = before.entity if before.live and not (replaces and entity_id in given) else None
            origin = _NEW if entity is None else self.origins.get(entity_id, _OF_BUILD)
            if entity_id in given or entity_id not in retired:
                entity, origin = origin.with_part(entity, source, given.get(entity_id), adds=adds or as_edits)
            live = entity is not None and entity_id not in retired
            if not as_edits:
                self._note(self.origins, entity_id, None if not live or origin == _OF_BUILD else origin)
            release = after = State(entity or before.entity, live, retired.get(entity_id))
            if as_edits and (current.live or after.live):
                self._edit(entity_id, current, after)
            elif edit is not None:
                self._note(self.edits, entity_id, edit := replace(edit, release=release))
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
        self._notify(self.find_ids(update.ids))
        return update

    def _edit(self, entity_id: str, before: State, after: State, name: tuple[str, bool] | None = None) -> None:
        """Change an entity, and note the edit unless it leaves the entity as the source has it.

        Args:
            name: the entity was only renamed; whether it keeps the old name.
        """
        if not after.agrees(before):
            edit = (self.edits.get(entity_id) or Edit(before)).then(after, name)
            self._set_state(entity_id, after)
            self._note(self.edits, entity_id, None if after.agrees(edit.release) else edit)

    def has_from(self, source: str, entity_id: str) -> bool:
        """Whether an entity has anything from a source."""
        return source in self.origins.get(entity_id, _OF_BUILD).parts

    def note_source(self, record: dict[str, Any], *, is_build: bool, adds: bool = False) -> None:
        """Note what was added. The licence stays if the record has none.

        Args:
            record: with a "name": that of ``release``, unless it is of what the knowledge base was built from.
            is_build: it is a later release of that.
            adds: it adds to what the source said before, so its files are more of the source's. Those of another
                reader do not change how the next release is read.
        """
        added = {one["name"]: one for one in self._source.get("added", ())}
        before = self._source if is_build else added.get(record["name"], {})
        files = dict.fromkeys((*(before.get("files", ()) if adds else ()), *record.get("files", ())))
        licence = record.get("licence") or before.get("licence", "")
        of_release = before if adds and before.get("reader") != record.get("reader") else {}
        record = {**record, **of_release, "licence": licence, "files": list(files)}
        if not is_build:
            record, added = self._source, {**added, record["name"]: record}
        self._source = {**record, "added": list(added.values())} if added else record
        self._is_changed = True

    def _note(self, notes: Any, entity_id: str, note: Any) -> None:
        """Change one of the edits or origins; None = there is none."""
        if note != notes.get(entity_id):
            self._is_changed = True
            notes[entity_id] = note
            if note is None:
                del notes[entity_id]

    def _set_state(self, entity_id: str, state: State) -> None:
        """Rows stay: an id whose new state has no entity is retired."""
        self._is_changed = True
        row = int(self.find_ids([entity_id])[0])
        current = self.entities_at(np.array([row]))[0] if row >= 0 else None
        live = state.live and state.entity is not None
        if (entity := state.entity or current) is not None:
            if current is not None:
                self._count(row, current, self._is_live(row), -1)
            else:
                row = self._new_rows[entity_id] = self.n_rows
                self._counts["rows"] += 1
            self._count(row, entity, live, 1)
            self._put_row(row, entity, live)
        current_successor = self._successors([entity_id])[0]
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
        self._rows[row] = (entity, live)
        names = (entity.canonical_name, *entity.aliases) if live else ()
        self._names[row] = list(dict.fromkeys(map(normalize_alias, names)))
        for look_up, text in self._texts(row):
            self._rows_by[look_up].setdefault(text, {})[row] = None

    def _texts(self, row: int) -> Iterator[tuple[str, str]]:
        """By which look-ups a changed row is found, and by what."""
        entity, live = self._rows.get(row, (None, False))
        yield from (("name", name) for name in self._names.get(row, ()))
        yield from (("xref", key) for key in set(map(xref_key, entity.xrefs if entity is not None and live else ())))

    def _rows_of_live(self, ids: list[str]) -> Rows:
        rows = self.find_ids(ids)
        for entity_id, row in zip(ids, rows.tolist(), strict=True):
            if row < 0:
                raise PelError(Errors.E100.format(id=entity_id, n=self._counts["entities"]))
            if not self._is_live(row):
                new = self._successors([entity_id])[0]
                successor = "without a successor" if new is None else f"its successor is '{new}'"
                raise PelError(Errors.E114.format(id=entity_id, successor=successor))
        return rows

    def on_change(self, listener: Listener) -> None:
        """Have a method called after each change, with this knowledge base and the changed rows, so that
        what was built from it stays in step. Neither copies nor saved folders have listeners.

        Args:
            listener: a bound method; forgotten along with its object.
        """
        reference = WeakMethod(listener)
        if reference not in self._listeners:
            self._listeners.append(reference)

    def _notify(self, rows: Rows) -> Rows:
        self._forget_derived()
        self._listeners = [reference for reference in self._listeners if reference() is not None]
        for reference in self._listeners if len(rows) else ():
            if (listener := reference()) is not None:
                listener(self, rows)
        return rows


def most_frequent_first(counts: Counter[str]) -> dict[str, int]:
    """Those above 0; of equal ones in the order of their names."""
    return {name: counts[name] for name in sorted(counts, key=lambda name: (-counts[name], name)) if counts[name] > 0}


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
            raise PelError(Errors.E011.format(expected="entities of type spacy_pel.Entity", got=repr(entity)))
        whole = repaired(entity, lambda kind, entity_id: None)
        if whole is None:
            raise PelError(Errors.E117.format(entity=entity))
        if whole.concept_id in checked:
            raise PelError(Errors.E113.format(id=whole.concept_id))
        checked[whole.concept_id] = whole
    return list(checked.values())
