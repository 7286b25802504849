"""The knowledge base: entities by id, by row and by name, in memory-mapped Arrow files."""

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakMethod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Errors, PelError
from ..types import Entity, Rows
from ..util import normalize_alias, progress
from ..util.saved_folder import Buffer, write_folder
from .build import build_store
from .changes import (
    Update,
    add_entities,
    follow_release,
    put_entities,
    rename_entities,
    retire_entities,
    update_entities,
    withdraw_edits,
)
from .store.arrow_store import ArrowStore
from .store.edits import Edit, State
from .store.merged_store import MergedStore
from .store.store_writer import KIND, META, VERSION

PathLike = str | Path
Listener = Callable[["KnowledgeBase", Rows], None]


class KnowledgeBase:
    """Entities with their names, types and definitions.

    Every entity has a row that never changes: new entities are appended, a retired one keeps its row as a
    tombstone. The saved part is memory-mapped; changes are kept in memory until ``to_disk`` merges them.
    Wherever an id is expected, an id that was retired with a successor (or that the source redirects) is
    resolved to the successor. Names are compared in normal form (``util.normalize_alias``).

    ``add``, ``update``, ``put``, ``retire`` and ``rename`` are edits of a curator: they are noted, stay
    through later releases of the source (``release``), and can be withdrawn.

    Args:
        entities: for a small knowledge base in memory; see ``build`` for large ones.
        redirects: retired id -> its successor.
        source: origin, version, licence: JSON data.
        strict: faults of entities are errors; otherwise they are repaired and counted.
    """

    def __init__(
        self,
        entities: Iterable[Entity] = (),
        *,
        redirects: Mapping[str, str] | None = None,
        source: Mapping[str, Any] | None = None,
        strict: bool = False,
    ):
        with _temporary_folder() as folder:
            build_store(folder, entities, redirects=redirects, source=source, strict=strict)
            self._merged = MergedStore(ArrowStore.read(folder))
        self._listeners: list[WeakMethod[Listener]] = []

    @classmethod
    def _of(cls, store: ArrowStore) -> "KnowledgeBase":
        kb = cls.__new__(cls)
        kb._merged = MergedStore(store)
        kb._listeners = []
        return kb

    @classmethod
    def build(
        cls,
        entities: Iterable[Entity],
        path: PathLike,
        *,
        source: Mapping[str, Any] | None = None,
        redirects: Mapping[str, str] | None = None,
        strict: bool = False,
        show_progress: bool = False,
    ) -> "KnowledgeBase":
        """Write a knowledge base folder from a stream, and open it. Memory stays bounded.

        Args:
            entities: read once.
            path: the folder; an existing knowledge base is replaced.
                source, redirects, strict: as above; the first two are read after the entities.
            show_progress: show a progress bar.

        Returns:
            Memory-mapped.

        Raises:
            PelError: if there are no entities, or the folder cannot be written.
        """
        stream = progress(entities, description="Writing entities", show=show_progress)
        with _new_folder(Path(path)) as part:
            n_rows = build_store(part, stream, redirects=redirects, source=source, strict=strict)
            if not n_rows:
                raise PelError(Errors.E102.format(path=path))
        return cls.from_disk(path)

    # --- disk, bytes, processes

    @classmethod
    def from_disk(cls, path: PathLike) -> "KnowledgeBase":
        """Open a folder, memory-mapped.

        Raises:
            PelError: if it is missing, damaged, or has another format version.
        """
        return cls._of(ArrowStore.open(path))

    def to_disk(self, path: PathLike) -> None:
        """Write the folder with the changes merged; rows stay the same.

        Raises:
            PelError: if the folder holds something else or cannot be written.
        """
        path, changed = Path(path), bool(self._merged.overlay)
        if not changed and self._merged.store.is_at(path):
            return
        with _new_folder(path) as part:
            self._merged.write_to(part)
        if changed and self.path is not None and self.path.resolve() == path.resolve():
            self._merged = MergedStore(ArrowStore.open(path))

    def to_bytes(self) -> bytes:
        """What ``to_disk`` would write. RAISES (PelError): if it is over 2 GiB."""
        if not self._merged.overlay:
            return self._merged.store.to_bytes()
        with _temporary_folder() as folder:
            self._merged.write_to(folder)
            return ArrowStore.read(folder).to_bytes()

    @classmethod
    def from_bytes(cls, data: Buffer) -> "KnowledgeBase":
        """Raises:
        PelError: if this is not what ``to_bytes`` returned.
        """
        return cls._of(ArrowStore.from_bytes(data))

    def __reduce__(self) -> Any:
        store = self._merged.store
        if store.path is not None and not self._merged.overlay and store.is_at(store.path):
            # another process can map the same files: nothing is copied
            return _reopen, (str(store.path.resolve()), self.fingerprint)
        return KnowledgeBase.from_bytes, (self.to_bytes(),)

    @property
    def path(self) -> Path | None:
        """The folder it was opened from; None = in memory."""
        return self._merged.store.path

    @property
    def fingerprint(self) -> str:
        """Changes with any row or redirect; the same before and after saving."""
        return self._merged.fingerprint

    @property
    def meta(self) -> dict[str, Any]:
        """Format, version, fingerprint, counts, source, report of repairs."""
        return self._merged.meta()

    @property
    def source(self) -> dict[str, Any]:
        """Origin, version, licence, reader settings."""
        return self._merged.store.meta["source"]

    # --- by id

    def __len__(self) -> int:
        return self._merged.counts["entities"]

    @property
    def n_rows(self) -> int:
        """Rows, those of retired entities included."""
        return self._merged.counts["rows"]

    def __iter__(self) -> Iterator[str]:
        """The ids of the entities that are not retired, as a mapping does."""
        yield from self.ids_at(self.live_rows)

    def __contains__(self, entity_id: object) -> bool:
        return isinstance(entity_id, str) and self.row(entity_id) >= 0

    def __getitem__(self, entity_id: str) -> Entity:
        row = self.row(entity_id)
        if row < 0:
            raise PelError(Errors.E100.format(id=entity_id, n=len(self)))
        return self._merged.entity_at(row)

    def resolve(self, entity_id: str) -> str | None:
        """This id, or its successor if it was retired; None = unknown."""
        row = self.row(entity_id)
        return self.id_at(row) if row >= 0 else None

    def row(self, entity_id: str) -> int:
        """The row of an entity, following redirects; -1 = unknown."""
        return int(self.rows([entity_id])[0])

    def rows(self, ids: Sequence[str]) -> Rows:
        """The row of each entity, following redirects; -1 = unknown."""
        rows = self._merged.find_ids(ids)
        known = rows >= 0
        known[known] = self._merged.live[rows[known]]
        for i in np.flatnonzero(~known).tolist():
            rows[i] = self._row_of_successor(ids[i])
        return rows

    def _row_of_successor(self, entity_id: str) -> int:
        passed = {entity_id}
        new = self._merged.redirect(entity_id)
        while new is not None and new not in passed:
            row = int(self._merged.find_ids([new])[0])
            if row >= 0 and self._merged.live[row]:
                return row
            passed.add(new)
            new = self._merged.redirect(new)
        return -1

    def is_retired(self, entity_id: str) -> bool:
        """Whether an entity had this id that was retired."""
        row = int(self._merged.find_ids([entity_id])[0])
        return row >= 0 and not self._merged.live[row]

    def validate(self) -> None:
        """Raises:
        PelError: if the saved files are not safe to read; reads all of them.
        """
        self._merged.store.validate()

    def redirects(self) -> dict[str, str]:
        """Retired ids and their successors."""
        return self._merged.redirects()

    # --- by name

    def ids(self, alias: str) -> list[str]:
        """The entities that have this name, compared in normal form.

        Raises:
            PelError: if the name is not text.
        """
        if not isinstance(alias, str):
            raise PelError(Errors.E116.format(wanted="a name", got=repr(alias)))
        return self._merged.ids_at(self.rows_of_alias(alias))

    def rows_of_alias(self, alias: str) -> Rows:
        """The rows of the entities that have this name, ascending."""
        return self.rows_of_aliases([alias])[0]

    def rows_of_aliases(self, aliases: Sequence[str], *, normalized: bool = False) -> list[Rows]:
        """Look up many names at once.

        Args:
            aliases: names.
            normalized: they are in normal form already (see ``util.normalize_alias``).

        Returns:
            ``rows_of_alias`` of each.
        """
        return self._merged.find_names(aliases if normalized else list(map(normalize_alias, aliases)))

    def search(self, text: str, n: int = 20) -> list[tuple[str, str]]:
        """Find entities by a part of a name: the words of a text, or how they begin, in any order.

        Args:
            text: compared in normal form.
            n: how many entities at most.

        Returns:
            Ids and, for each, the nearest of its names in normal form. First the
            text itself, then names that begin with it, then those whose words begin with its words, then
            those that contain its words; of equal ones the shortest first. Empty for an empty text.

        Raises:
            PelError: if the text is not text.
        """
        if not isinstance(text, str):
            raise PelError(Errors.E116.format(wanted="a text", got=repr(text)))
        wanted = normalize_alias(text)
        found = self._merged.search_names(wanted, n) if wanted else []
        ids = self._merged.ids_at(np.array([row for _, row in found], dtype=np.int64))
        return [(one, name) for one, (name, _) in zip(ids, found, strict=True)]

    # --- by row

    def id_at(self, row: int) -> str:
        """The id of a row, live or retired."""
        return self.ids_at([row])[0]

    def ids_at(self, rows: ArrayLike) -> list[str]:
        """The ids of rows, live or retired."""
        return self._merged.ids_at(self._checked(rows))

    def name_at(self, row: int) -> str:
        """The canonical name in a row."""
        return self._merged.name_at(int(self._checked([row])[0]))

    def names_at(self, rows: ArrayLike) -> list[list[str]]:
        """Canonical name and aliases of each row."""
        return self._merged.names_at(self._checked(rows))

    def types_at(self, rows: ArrayLike) -> list[list[str]]:
        """The types of each row; of a retired one, as they were."""
        return self._merged.types_at(self._checked(rows))

    def normalized_names_at(self, rows: ArrayLike) -> tuple[list[str], Rows]:
        """Names in normal form, as stored.

        Args:
            rows: (n,) rows.

        Returns:
            The distinct normalised names of all rows, and (n + 1,)
            offsets: row i has those at ``offsets[i]:offsets[i + 1]``; a retired row has none.
        """
        return self._merged.normalized_names_at(self._checked(rows))

    def entity_at(self, row: int) -> Entity:
        """The entity in a row; for a retired one, as it was."""
        return self._merged.entity_at(int(self._checked([row])[0]))

    def _checked(self, rows: ArrayLike) -> Rows:
        checked = np.asarray(rows, dtype=np.int64)
        if len(checked) and not 0 <= checked.min() <= checked.max() < self.n_rows:
            wrong = checked.min() if checked.min() < 0 else checked.max()
            raise PelError(Errors.E110.format(last=self.n_rows - 1, row=wrong))
        return checked

    def entities(self) -> Iterator[Entity]:
        """The live entities in the order of their rows."""
        return (entity for entity, live in self.items() if live)

    def items(self) -> Iterator[tuple[Entity, bool]]:
        """Every row in order, and whether it is live."""
        return self._merged.items()

    @property
    def live_rows(self) -> Rows:
        """The rows of live entities, ascending."""
        return self._merged.live_rows

    def types(self) -> dict[str, int]:
        """Live entities by type, the most frequent type first."""
        return self._merged.type_counts()

    def rows_with_types(self, types: Collection[str]) -> NDArray[np.bool_]:
        """By row; True = live and of any of these types. Do not write to it."""
        return self._merged.rows_with_types(types)

    @property
    def memo(self) -> dict[str, Any]:
        """For values computed from rows, by a name of the caller's choice. Another,
        empty dictionary after each change of a row; it is neither saved nor pickled."""
        return self._merged.memo

    # --- changes

    def add(self, entities: Iterable[Entity]) -> Rows:
        """Add entities. One with the id of a retired entity gets the row of that entity.

        Returns:
            Their rows.

        Raises:
            PelError: if an id exists already or is given twice; nothing is added then.
        """
        return self._changed(add_entities(self._merged, entities))

    def update(self, entities: Iterable[Entity]) -> Rows:
        """Replace entities by others with the same ids.

        Returns:
            Their rows.

        Raises:
            PelError: if an id is unknown or retired; nothing is changed then.
        """
        return self._changed(update_entities(self._merged, entities))

    def put(self, entities: Iterable[Entity]) -> Rows:
        """Add entities, or replace those whose ids are live. What follows is brought up to date once for
        each call, so pass many entities together.

        Returns:
            Their rows.

        Raises:
            PelError: if an id is given twice; nothing is changed then.
        """
        return self._changed(put_entities(self._merged, entities))

    def retire(self, ids: Iterable[str], successor: Mapping[str, str] | None = None) -> Rows:
        """Retire entities: names no longer find them, and their ids resolve to their successors, if any.

        Args:
            ids: live ids.
            successor: id -> the id that replaces it.

        Returns:
            Their rows, which stay as tombstones.

        Raises:
            PelError: if an id or a successor is not live; nothing is changed then.
        """
        return self._changed(retire_entities(self._merged, ids, successor or {}))

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
        return self._changed(rename_entities(self._merged, names, keep_old=keep_old))

    @property
    def edits(self) -> Mapping[str, Edit]:
        """Curators' edits by id, the first edited first."""
        return self._merged.edits

    def withdraw(self, ids: Iterable[str]) -> Rows:
        """Withdraw edits: the entities are as the source has them again. One that it lacks is retired.

        Args:
            ids: of edited entities.

        Returns:
            Their rows.

        Raises:
            PelError: if one was not edited; nothing is changed then.
        """
        return self._changed(withdraw_edits(self._merged, ids))

    def release(
        self, entities: Iterable[Entity], retired: Mapping[str, str | None], *, as_edits: bool = False
    ) -> Update:
        """Take over what a release of the source says. Where a curator edited an entity, the edit wins: it is
        applied again to the entity of the release.

        Args:
            entities: new, changed and unchanged ones; others stay as they are.
            retired: ids that are no longer used -> successor.
            as_edits: they are a curator's edits instead, which win.

        Returns:
            What changed.

        Raises:
            PelError: if an id is given twice; nothing is changed then.
        """
        update = follow_release(self._merged, entities, retired, as_edits=as_edits)
        self._changed(self._merged.find_ids(update.changed))
        return update

    def source_states(self, ids: Sequence[str]) -> list[State]:
        """What the source has for each id: the knowledge base without the edits."""
        pairs = zip(ids, self._merged.states(ids), strict=True)
        return [self.edits[one].release if one in self.edits else state for one, state in pairs]

    def follow(self, listener: Listener) -> None:
        """Have a method called after each change, with this knowledge base and the changed rows, so that
        what was built from it stays in step. Neither copies nor saved folders have listeners.

        Args:
            listener: a bound method; forgotten along with its object.
        """
        known = WeakMethod(listener)
        if known not in self._listeners:
            self._listeners.append(known)

    def _changed(self, rows: Rows) -> Rows:
        listeners = [known() for known in self._listeners]
        self._listeners = [known for known in self._listeners if known() is not None]
        for listener in listeners:
            if listener is not None and len(rows):
                listener(self, rows)
        return rows


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="spacy_pel_kb_") as folder:
        yield Path(folder)


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """An empty folder that becomes the knowledge base folder at ``path``.

    Raises:
        PelError: if that would replace something other than a knowledge base.
    """
    if path.exists() and not path.is_dir():
        raise PelError(Errors.E111.format(path=path, got="a file"))
    if path.is_dir() and not (path / META).is_file() and any(path.iterdir()):
        raise PelError(Errors.E111.format(path=path, got="a folder with other files"))
    with write_folder(path, kind=KIND, version=VERSION) as part:
        yield part


def _reopen(path: str, fingerprint: str) -> KnowledgeBase:
    kb = KnowledgeBase.from_disk(path)
    if kb.fingerprint != fingerprint:
        raise PelError(Errors.E109.format(path=path, expected=fingerprint, got=kb.fingerprint))
    return kb
