"""A saved store and the unsaved changes to it as one store."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...types import Entity
from ...util.ragged import offsets_of
from .arrow_files import Rows
from .arrow_store import ArrowStore, Mask
from .digest import from_fingerprint, redirect_digest, row_digest, to_fingerprint
from .edits import Edit, State
from .name_search import search_names
from .overlay import Overlay
from .store_writer import StoreWriter


class MergedStore:
    """Answers from the store where nothing changed, and from the overlay elsewhere.

    Every change goes through ``put`` or ``set_redirect``, which keep the fingerprint and the
    counts up to date.

    Args:
        store: the saved part.
    """

    def __init__(self, store: ArrowStore):
        self.store = store
        self.overlay = Overlay()
        self.counts: dict[str, int] = dict(store.meta["counts"])
        self._total = from_fingerprint(store.meta["fingerprint"])
        self._live: Mask | None = None
        self._live_rows: Rows | None = None
        self._type_masks: dict[frozenset[str], Mask] = {}
        self.memo: dict[str, Any] = {}  # replaced, not emptied: a thread may be writing to the old one

    # --- changes

    def put(self, row: int, entity: Entity, *, live: bool) -> None:
        """Set what a row holds from now on; a row beyond the last one is new."""
        if row < self.counts["rows"]:
            self._count(row, self.entity_at(row), self._is_live(row), -1)
        else:
            self.overlay.ids[entity.concept_id] = row
            self.counts["rows"] += 1
        self._count(row, entity, live, 1)
        self.overlay.put(row, entity, live=live)
        self._live = self._live_rows = None
        self._type_masks = {}
        self.memo = {}

    def _is_live(self, row: int) -> bool:
        changed = self.overlay.rows.get(row)  # each change makes ``live`` stale
        return bool(self.store.live[row]) if changed is None else changed[1]

    def _count(self, row: int, entity: Entity, live: bool, sign: int) -> None:
        self._total += sign * row_digest(row, entity, live)
        self.counts["entities"] += sign * live
        self.counts["aliases"] += sign * live * len(entity.aliases)

    def set_redirect(self, old: str, new: str | None) -> None:
        """Note the successor of an id; None = it has none any more."""
        current = self.redirect(old)
        if current == new:
            return
        for successor, sign in ((current, -1), (new, 1)):
            if successor is not None:
                self._total += sign * redirect_digest(old, successor)
                self.counts["redirects"] += sign
        self.overlay.redirects[old] = new

    @property
    def edits(self) -> Mapping[str, Edit]:
        """Curators' edits by id."""
        return self.store.edits if self.overlay.edits is None else self.overlay.edits

    def set_edit(self, entity_id: str, edit: Edit | None) -> None:
        """Note how a curator changed an entity; None = no longer."""
        if self.overlay.edits is None:
            self.overlay.edits = dict(self.store.edits)
        if edit is None:
            self.overlay.edits.pop(entity_id, None)
        else:
            self.overlay.edits[entity_id] = edit

    def states(self, ids: Sequence[str]) -> list[State]:
        """What there is for each id."""
        rows = self.find_ids(ids)
        known = rows >= 0
        entities = iter(self.entities_at(rows[known]))
        states = []
        for entity_id, row in zip(ids, rows.tolist(), strict=True):
            live = row >= 0 and self._is_live(row)
            successor = None if live else self.redirect(entity_id)
            states.append(State(next(entities) if row >= 0 else None, live, successor))
        return states

    def set_state(self, entity_id: str, state: State) -> int:
        """Set what there is for an id. RETURNS (int): its row; -1 = none."""
        row = int(self.find_ids([entity_id])[0])
        if state.entity is not None:
            row = row if row >= 0 else self.counts["rows"]
            self.put(row, state.entity, live=state.live)
        elif row >= 0:  # rows stay
            self.put(row, self.entity_at(row), live=False)
        self.set_redirect(entity_id, state.successor)
        return row

    @property
    def fingerprint(self) -> str:
        return to_fingerprint(self._total)

    # --- redirects

    def redirect(self, old: str) -> str | None:
        """The successor noted for an id."""
        if old in self.overlay.redirects:
            return self.overlay.redirects[old]
        return self.store.redirect(old)

    def redirects(self) -> dict[str, str]:
        """All of them."""
        both: dict[str, str | None] = {**self.store.redirects(), **self.overlay.redirects}
        return {old: new for old, new in both.items() if new is not None}

    # --- rows by id and by name

    def find_ids(self, ids: Sequence[str]) -> Rows:
        """The row of each id, retired or not; -1 = unknown."""
        rows = self.store.find_ids(ids)
        if self.overlay.ids:
            for i in np.flatnonzero(rows < 0).tolist():
                rows[i] = self.overlay.ids.get(ids[i], -1)
        return rows

    def find_names(self, names: Sequence[str]) -> list[Rows]:
        """The live rows that have each normalised name, ascending."""
        found = self.store.find_names(names)
        return self.overlay.merge_names(names, found) if self.overlay.rows else found

    def search_names(self, text: str, n: int) -> list[tuple[str, int]]:
        """Names that contain each word of a normalised text, each with a row
        that has it, best first; a row once. Where many rows share names, fewer than n are found."""
        changed = self.overlay.rows
        found = [
            (one, row)
            for one, rows in self.store.search_names(text, 4 * n + len(changed))
            for row in rows.tolist()
            if row not in changed
        ]
        own = [(name, row) for row in changed for name in self.overlay.names_of(row)]
        if own:
            names = search_names([pa.array([name for name, _ in own])], text, 4 * n)
            found = sorted([*found, *((one, own[one.place][1]) for one in names)])
        first: dict[int, str] = {}
        for one, row in found:
            first.setdefault(row, one.name)
        return [(name, row) for row, name in first.items()][:n]

    # --- what rows hold

    @property
    def live(self) -> Mask:
        """By row; False = retired."""
        if self._live is None:
            if not self.overlay.rows:
                self._live = self.store.live
            else:
                self._live = np.append(self.store.live, np.ones(len(self.overlay.ids), dtype=bool))
                self._live[list(self.overlay.rows)] = [live for _, live in self.overlay.rows.values()]
            self._live.flags.writeable = False
        return self._live

    @property
    def live_rows(self) -> Rows:
        """The rows of live entities, ascending."""
        if self._live_rows is None:
            self._live_rows = np.flatnonzero(self.live)
            self._live_rows.flags.writeable = False
        return self._live_rows

    def entity_at(self, row: int) -> Entity:
        changed = self.overlay.rows.get(row)
        return self.store.entity_at(row) if changed is None else changed[0]

    def entities_at(self, rows: Rows) -> list[Entity]:
        is_stored = [row not in self.overlay.rows for row in rows.tolist()]
        stored = iter(self.store.entities_at(rows[np.array(is_stored, dtype=bool)]))
        return [
            next(stored) if one else self.overlay.rows[row][0]
            for row, one in zip(rows.tolist(), is_stored, strict=True)
        ]

    def name_at(self, row: int) -> str:
        changed = self.overlay.rows.get(row)
        return self.store.name_at(row) if changed is None else changed[0].canonical_name

    def names_at(self, rows: Rows) -> list[list[str]]:
        stored = np.minimum(rows, self.store.n_rows - 1)
        names = self.store.names_at(stored) if self.store.n_rows else [[] for _ in rows]
        for i, row in enumerate(rows.tolist() if self.overlay.rows else ()):
            if changed := self.overlay.rows.get(row):
                names[i] = [changed[0].canonical_name, *changed[0].aliases]
        return names

    def normalized_names_at(self, rows: Rows) -> tuple[list[str], Rows]:
        """See ``AliasMap.names_at``."""
        changed = self.overlay.rows
        if not changed or changed.keys().isdisjoint(rows.tolist()):
            return self.store.normalized_names_at(rows)
        stored = np.array([row for row in rows.tolist() if row not in changed], dtype=np.int64)
        names, offsets = self.store.normalized_names_at(stored)
        bounds = offsets.tolist()
        own = iter([names[start:end] for start, end in zip(bounds[:-1], bounds[1:], strict=True)])
        pieces = [self.overlay.names_of(row) if row in changed else next(own) for row in rows.tolist()]
        lengths = np.array([len(piece) for piece in pieces], dtype=np.int64)
        return list(chain.from_iterable(pieces)), offsets_of(lengths)

    def ids_at(self, rows: Rows) -> list[str]:
        n_stored = self.store.n_rows
        if not len(rows) or int(rows.max()) < n_stored:
            return self.store.ids_at(rows)
        # the id of a stored row never changes, so only new rows are the overlay's
        ids = self.store.ids_at(np.minimum(rows, n_stored - 1)) if n_stored else [""] * len(rows)
        for i in np.flatnonzero(rows >= n_stored).tolist():
            ids[i] = self.overlay.rows[int(rows[i])][0].concept_id
        return ids

    def items(self) -> Iterator[tuple[Entity, bool]]:
        """Every row in order, and whether it is live."""
        for row, stored in enumerate(self.store.entities()):
            yield self.overlay.rows.get(row, stored)
        for row in range(self.store.n_rows, self.counts["rows"]):
            yield self.overlay.rows[row]

    # --- types

    def type_counts(self) -> dict[str, int]:
        """Live entities by type, the most frequent type first."""
        stored = self.store.type_counts().tolist()
        counts = Counter(dict(zip(self.store.type_names, stored, strict=True)))
        for row, (entity, live) in self.overlay.rows.items():
            if row < self.store.n_rows and self.store.live[row]:
                counts.subtract(self.store.entity_at(row).types)
            if live:
                counts.update(entity.types)
        pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return {kind: count for kind, count in pairs if count > 0}

    def types_at(self, rows: Rows) -> list[list[str]]:
        stored = np.minimum(rows, self.store.n_rows - 1)
        types = self.store.types_at(stored) if self.store.n_rows else [[] for _ in rows]
        for i, row in enumerate(rows.tolist() if self.overlay.rows else ()):
            if changed := self.overlay.rows.get(row):
                types[i] = list(changed[0].types)
        return types

    def rows_with_types(self, types: Collection[str]) -> Mask:
        """By row; live and of any of these types. Cached, not writable."""
        key = frozenset(types)
        if key not in self._type_masks:
            wanted = np.array([kind in key for kind in self.store.type_names], dtype=bool)
            mask = np.zeros(self.counts["rows"], dtype=bool)
            mask[: self.store.n_rows] = self.store.rows_with_types(wanted)
            for row, (entity, _) in self.overlay.rows.items():
                mask[row] = not key.isdisjoint(entity.types)
            mask &= self.live
            mask.flags.writeable = False
            self._type_masks[key] = mask
        return self._type_masks[key]

    def write_to(self, folder: Path) -> None:
        """Write the files of a knowledge base to an empty folder, the changes merged; rows stay the same."""
        if not self.overlay:
            self.store.write_to(folder)
            return
        writer = StoreWriter(folder)
        for entity, live in self.items():
            writer.append(entity, live=live)
        writer.finish(
            writer.finish_entities(),
            redirects=self.redirects(),
            source=self.store.meta["source"],
            report=self.store.meta["report"],
            edits=self.edits,
        )

    def meta(self) -> dict[str, Any]:
        """The content of meta.json."""
        return {**self.store.meta, "fingerprint": self.fingerprint, "counts": {**self.counts, "edits": len(self.edits)}}
