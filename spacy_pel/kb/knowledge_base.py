"""The knowledge base: entities by id, by row and by name, in memory-mapped Arrow files."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from weakref import WeakMethod

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from ..errors import Errors, PelError
from ..types import Entity, KBReader, Rows
from ..util import normalize_alias, progress
from ..util.arrays import offsets_of
from ..util.files import PathLike
from ..util.name_search import search_names
from ..util.packing import Buffer
from ..util.saved_folder import write_folder
from ..util.xrefs import vocabulary_name, xref_key
from .build import Ids, Source, build_store
from .changes import Update, follow_release, put_entities, rename_entities, retire_entities, withdraw_edits
from .codes import codes_at, vocabularies
from .edits import Edit, State
from .is_a import Hierarchy
from .overlay import Overlay
from .store.arrow_store import ArrowStore, Mask
from .store.digest import redirect_digest, row_digest, to_fingerprint
from .store.store_writer import KIND, META, VERSION, StoreWriter
from .subtree import subtree

Listener = Callable[["KnowledgeBase", Rows], None]
Value = TypeVar("Value")
_BATCH = 4096
_TEMPORARY = "spacy_pel_kb_"


class KnowledgeBase:
    """Entities with their names, types, definitions, cross references and broader entities.

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
        self, entities: Iterable[Entity] = (), *, redirects: Ids = None, source: Source = None, strict: bool = False
    ):
        with TemporaryDirectory(prefix=_TEMPORARY) as folder:
            build_store(Path(folder), entities, redirects=redirects, source=source, strict=strict)
            self._open(ArrowStore.read(Path(folder)))
        self._listeners: list[WeakMethod[Listener]] = []

    def _open(self, store: ArrowStore) -> None:
        self._store = store
        self._overlay = Overlay()
        self._counts: dict[str, int] = dict(store.meta["counts"])
        self._total = int(store.meta["fingerprint"], 16)  # of the digests of all rows and redirects
        self._forget_derived()

    def _forget_derived(self) -> None:
        self._live: Mask | None = None
        self._live_rows: Rows | None = None
        # For values that callers compute from rows, by a name of their choice. It is replaced, not emptied, after
        # each change of a row (a thread may be writing to the old one), and neither saved nor pickled.
        self.memo: dict[str, Any] = {}

    @classmethod
    def _of(cls, store: ArrowStore) -> "KnowledgeBase":
        kb = cls.__new__(cls)
        kb._open(store)
        kb._listeners = []
        return kb

    @classmethod
    def build(
        cls,
        entities: Iterable[Entity],
        path: PathLike,
        *,
        source: Source = None,
        redirects: Ids = None,
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
            if not build_store(part, stream, redirects=redirects, source=source, strict=strict):
                raise PelError(Errors.E102.format(path=path))
        return cls.from_disk(path)

    @classmethod
    def read(
        cls,
        reader: KBReader,
        paths: Sequence[Path],
        out: PathLike,
        *,
        about: Mapping[str, Any],
        below: Sequence[str] = (),
        strict: bool = False,
        show_progress: bool = False,
    ) -> "KnowledgeBase":
        """Read source files into a knowledge base folder, and open it.

        Args:
            reader: streams the entities; its source, its redirects and its repairs are
                written to the folder too.
            paths: what the reader reads.
            out: the folder to write.
            about: JSON data for meta.json, e.g. the reader's name and settings.
            below: keep the entities with these ids, and all narrower ones; empty = all.
            strict: treat faults that the reader did not report as errors.
            show_progress: show a progress bar.

        Returns:
            Memory-mapped.

        Raises:
            PelError: if ``below`` names an unknown id, or no entity has a broader one.
        """
        if below:  # what is below is known only at the end of the files
            with TemporaryDirectory(prefix=_TEMPORARY) as folder:
                settings: Any = {"about": about, "strict": strict, "show_progress": show_progress}
                whole = cls.read(reader, paths, Path(folder) / "kb", **settings)
                kept, redirects = subtree(whole, below)
                return cls.build(kept, out, source={**whole.source, "below": list(below)}, redirects=redirects)
        redirects = {}
        source: dict[str, Any] = {}

        def entities() -> Iterator[Entity]:
            yield from reader(paths)
            # a reader knows these only at the end of its files
            redirects.update(reader.redirects)
            source.update({**reader.source, **about, "repairs": dict(reader.report)})

        facts: Any = {"source": source, "redirects": redirects}
        return cls.build(entities(), out, **facts, strict=strict, show_progress=show_progress)

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
        path, is_changed = Path(path), bool(self._overlay)
        if not is_changed and self._store.is_at(path):
            return
        with _new_folder(path) as part:
            self._write_to(part)
        if is_changed and self.path is not None and self.path.resolve() == path.resolve():
            self._open(ArrowStore.open(path))

    def _write_to(self, folder: Path) -> None:
        if not self._overlay:
            self._store.write_to(folder)
            return
        writer = StoreWriter(folder)
        for entity, live in self.items():
            writer.append(entity, live=live)
        writer.finish_entities()
        writer.finish(self.redirects(), self.source, report=self._store.meta["report"], edits=self.edits)

    def to_bytes(self) -> bytes:
        """What ``to_disk`` would write.

        Raises:
            PelError: if it is over 2 GiB.
        """
        if not self._overlay:
            return self._store.to_bytes()
        with TemporaryDirectory(prefix=_TEMPORARY) as folder:
            self._write_to(Path(folder))
            return ArrowStore.read(Path(folder)).to_bytes()

    @classmethod
    def from_bytes(cls, data: Buffer) -> "KnowledgeBase":
        """The reverse of ``to_bytes``.

        Raises:
            PelError: if this is not what ``to_bytes`` returned.
        """
        return cls._of(ArrowStore.from_bytes(data))

    def __reduce__(self) -> Any:
        path = self.path
        if path is not None and not self._overlay and self._store.is_at(path):
            # another process can map the same files: nothing is copied
            return _reopen, (str(path.resolve()), self.fingerprint)
        return KnowledgeBase.from_bytes, (self.to_bytes(),)

    @property
    def path(self) -> Path | None:
        """The folder it was opened from; None = in memory."""
        return self._store.path

    @property
    def fingerprint(self) -> str:
        """Changes with any row or redirect; the same before and after saving."""
        return to_fingerprint(self._total)

    @property
    def meta(self) -> dict[str, Any]:
        """Format, version, fingerprint, counts, source, report of repairs."""
        counts = {**self._counts, "edits": len(self.edits)}
        return {**self._store.meta, "fingerprint": self.fingerprint, "counts": counts}

    @property
    def source(self) -> dict[str, Any]:
        """Origin, version, licence, reader settings."""
        return self._store.meta["source"]

    def validate(self) -> None:
        """Read every entity and redirect, compare them with the fingerprint, and look each one up.

        Opening compares only the sizes of the files; this finds changed bytes too.

        Raises:
            PelError: if the content is not what was written.
        """
        self._store.validate()
        total = sum(redirect_digest(old, new) for old, new in self.redirects().items())
        items, start = self.items(), 0
        while batch := list(islice(items, _BATCH)):
            total += sum(row_digest(start + i, entity, live) for i, (entity, live) in enumerate(batch))
            rows = start + np.flatnonzero([live for _, live in batch])
            entities = [entity for entity, live in batch if live]
            rows_by_name = self.rows_of_aliases([entity.canonical_name for entity in entities])
            is_found = all(row in named for row, named in zip(rows, rows_by_name, strict=True))
            pairs = [(row, xref) for row, entity in zip(rows, entities, strict=True) for xref in entity.xrefs]
            rows_by_xref = self.rows_of_xrefs([xref for _, xref in pairs])
            is_found &= all(row in found for (row, _), found in zip(pairs, rows_by_xref, strict=True))
            if not is_found or (self.rows([entity.concept_id for entity in entities]) != rows).any():
                raise self._store.damaged("look-up tables of its entities", "damaged ones")
            start += len(batch)
        if to_fingerprint(total) != self.fingerprint:
            raise self._store.damaged(f"content with the fingerprint {self.fingerprint}", to_fingerprint(total))

    # --- by id

    def __len__(self) -> int:
        return self._counts["entities"]

    @property
    def n_rows(self) -> int:
        """Rows, those of retired entities included."""
        return self._counts["rows"]

    def __iter__(self) -> Iterator[str]:
        """The ids of the entities that are not retired, as a mapping does."""
        yield from self.ids_at(self.live_rows)

    def __contains__(self, entity_id: object) -> bool:
        return isinstance(entity_id, str) and self.row(entity_id) >= 0

    def __getitem__(self, entity_id: str) -> Entity:
        return self.entity_at(self._known_row(entity_id))

    def _known_row(self, entity_id: str) -> int:
        row = self.row(entity_id)
        if row < 0:
            raise PelError(Errors.E100.format(id=entity_id, n=len(self)))
        return row

    def resolve(self, entity_id: str) -> str | None:
        """This id, or its successor if it was retired; None = unknown."""
        row = self.row(entity_id)
        return self.id_at(row) if row >= 0 else None

    def row(self, entity_id: str) -> int:
        """The row of an entity, following redirects; -1 = unknown."""
        return int(self.rows([entity_id])[0])

    def rows(self, ids: Sequence[str]) -> Rows:
        """The row of each entity, following redirects; -1 = unknown."""
        rows = self.find_ids(ids)
        known = rows >= 0
        known[known] = self.live[rows[known]]
        others = np.flatnonzero(~known).tolist()
        for i, successor in zip(others, self._successors([ids[i] for i in others]), strict=True):
            rows[i] = -1 if successor is None else self._row_of_successor(ids[i])
        return rows

    def _row_of_successor(self, entity_id: str) -> int:
        passed = {entity_id}
        new = self.redirect(entity_id)
        while new is not None and new not in passed:
            row = int(self.find_ids([new])[0])
            if row >= 0 and self.is_live(row):
                return row
            passed.add(new)
            new = self.redirect(new)
        return -1

    def find_ids(self, ids: Sequence[str]) -> Rows:
        """The row of each id, retired or not, without redirects; -1 = unknown."""
        rows = self._store.find_ids(ids)
        if self._overlay.new_rows:
            for i in np.flatnonzero(rows < 0).tolist():
                rows[i] = self._overlay.new_rows.get(ids[i], -1)
        return rows

    def is_retired(self, entity_id: str) -> bool:
        """Whether an entity had this id that was retired."""
        row = int(self.find_ids([entity_id])[0])
        return row >= 0 and not self.is_live(row)

    def redirect(self, old: str) -> str | None:
        """The successor noted for an id."""
        return self._successors([old])[0]

    def _successors(self, ids: Sequence[str]) -> list[str | None]:
        changed = self._overlay.redirects
        stored = self._store.successors(ids)
        return [changed.get(old, new) for old, new in zip(ids, stored, strict=True)]

    def redirects(self) -> dict[str, str]:
        """Retired ids and their successors."""
        merged: dict[str, str | None] = {**self._store.redirects(), **self._overlay.redirects}
        return {old: new for old, new in merged.items() if new is not None}

    # --- by name

    def ids(self, alias: str) -> list[str]:
        """The entities that have this name, compared in normal form.

        Raises:
            PelError: if the name is not text.
        """
        if not isinstance(alias, str):
            raise PelError(Errors.E116.format(wanted="a name", got=repr(alias)))
        return self.ids_at(self.rows_of_alias(alias))

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
        names = aliases if normalized else list(map(normalize_alias, aliases))
        stored = self._store.find_names(names)
        return self._overlay.merge("name", names, stored) if self._overlay.rows else stored

    def search(self, text: str, n: int = 20) -> list[tuple[str, str]]:
        """Find entities by a part of a name: the words of a text, or how they begin, in any order.

        Args:
            text: compared in normal form.
            n: how many entities at most. Where many entities share names, there may be fewer.

        Returns:
            Ids and, for each, the nearest of its names in normal form. First the
            text itself, then names that begin with it, then those whose words begin with its words, then
            those that contain its words; of equal ones the shortest first. Empty for an empty text.

        Raises:
            PelError: if the text is not text.
        """
        if not isinstance(text, str):
            raise PelError(Errors.E116.format(wanted="a text", got=repr(text)))
        text = normalize_alias(text)
        if not text:
            return []
        changed = self._overlay.names
        found = [
            (name, row)
            for name, rows in self._store.search_names(text, 4 * n + len(changed))
            for row in rows.tolist()
            if row not in changed
        ]
        names = [(name, row) for row in changed for name in changed[row]]
        if names:
            nearest = search_names([pa.array([name for name, _ in names])], text, 4 * n)
            found = sorted([*found, *((name, names[name.position][1]) for name in nearest)])
        best: dict[int, str] = {}
        for name, row in found:
            best.setdefault(row, name.name)
        rows = list(best)[:n]
        return [(entity_id, best[row]) for entity_id, row in zip(self.ids_at(rows), rows, strict=True)]

    # --- by cross reference

    def xrefs(self, entity_id: str) -> list[str]:
        """The cross references of an entity, e.g. "MESH:D001249".

        Raises:
            PelError: if the id is unknown.
        """
        return self.xrefs_at([self._known_row(entity_id)])[0]

    def ids_of_xref(self, xref: str) -> list[str]:
        """The entities that have this cross reference, in any usual spelling (see ``util.xrefs``).

        Raises:
            PelError: if it is not text.
        """
        if not isinstance(xref, str):
            raise PelError(Errors.E116.format(wanted="a cross reference such as 'MESH:D001249'", got=repr(xref)))
        return self.ids_at(self.rows_of_xrefs([xref])[0])

    def rows_of_xrefs(self, xrefs: Sequence[str]) -> list[Rows]:
        """The rows of the entities that have each cross reference, ascending."""
        keys = list(map(xref_key, xrefs))
        stored = self._store.find_xrefs(keys)
        return self._overlay.merge("xref", keys, stored) if self._overlay.rows else stored

    def codes(self, entity_id: str, vocabulary: str) -> list[str]:
        """The codes of an entity in a vocabulary, e.g. ["D001249"] in "MESH"; if its id is of that vocabulary, its id.
        Chapters and blocks of ICD, such as "I10-I16", are cross references but not codes.

        Args:
            entity_id: its id.
            vocabulary: in any usual spelling (see ``util.xrefs``), or "RXNORM_INGREDIENT": the codes in RxNorm of the
                ingredients of a brand, a combination or a clinical drug, by is-a; of an ingredient, its own.

        Raises:
            PelError: if the id is unknown.
        """
        return codes_at(self, self._known_row(entity_id), vocabulary_name(vocabulary))

    def vocabularies(self) -> dict[str, int]:
        """Live entities by the vocabularies in which they have codes, the most frequent one first."""
        return vocabularies(self)

    # --- broader and narrower entities

    def parents(self, entity_id: str) -> list[str]:
        """The entities one step broader than this one (is-a), without parents that the knowledge base lacks.

        Raises:
            PelError: if the id is unknown.
        """
        return self.ids_at(self._hierarchy.above(self._row_array(entity_id), 1))

    def children(self, entity_id: str) -> list[str]:
        """The entities one step narrower."""
        return self.ids_at(self._hierarchy.below(self._row_array(entity_id), 1))

    def ancestors(self, entity_id: str) -> list[str]:
        """All broader entities, the nearest first."""
        return self.ids_at(self._hierarchy.above(self._row_array(entity_id)))

    def descendants(self, entity_id: str) -> list[str]:
        """All narrower entities, the nearest first."""
        return self.ids_at(self._hierarchy.below(self._row_array(entity_id)))

    def rows_below(self, ids: Iterable[str]) -> Mask:
        """By row; True = one of these entities, or narrower than one. Unknown ids do not count.

        Raises:
            PelError: if ids are one string.
        """
        if isinstance(ids, str):
            raise PelError(Errors.E115.format(wanted="ids", got=repr(ids)))
        rows = self.rows(list(ids))
        rows = rows[rows >= 0]
        mask = np.zeros(self.n_rows, dtype=bool)
        if len(rows):
            mask[rows] = mask[self._hierarchy.below(rows)] = True
        return mask

    def _row_array(self, entity_id: str) -> Rows:
        return np.array([self._known_row(entity_id)])

    @property
    def _hierarchy(self) -> Hierarchy:
        memo = self.memo
        if "is_a" not in memo:
            children, ids, which = self._store.is_a_pairs()
            changed = [(row, entity.parents) for row, (entity, _) in self._overlay.rows.items()]
            is_stored = ~np.isin(children, [row for row, _ in changed])
            children, parents = children[is_stored], self.rows(ids)[which[is_stored]]
            children = np.append(children, [row for row, ids in changed for _ in ids]).astype(np.int64)
            parents = np.append(parents, self.rows([entity_id for _, ids in changed for entity_id in ids]))
            counts = (parents >= 0) & self.live[children]
            memo["is_a"] = Hierarchy(children[counts], parents[counts], self.n_rows)
        hierarchy: Hierarchy = memo["is_a"]
        return hierarchy

    # --- by row

    def id_at(self, row: int) -> str:
        """The id of a row, live or retired."""
        return self.ids_at([row])[0]

    def ids_at(self, rows: ArrayLike) -> list[str]:
        """The ids of rows, live or retired."""
        return self._merged(rows, self._store.ids_at, lambda entity: entity.concept_id)

    def name_at(self, row: int) -> str:
        """The canonical name in a row."""
        return self.names_at([row])[0][0]

    def names_at(self, rows: ArrayLike) -> list[list[str]]:
        """Canonical name and aliases of each row."""
        return self._merged(rows, self._store.names_at, lambda entity: [entity.canonical_name, *entity.aliases])

    def types_at(self, rows: ArrayLike) -> list[list[str]]:
        """The types of each row; of a retired one, as they were."""
        return self._merged(rows, self._store.types_at, lambda entity: list(entity.types))

    def xrefs_at(self, rows: ArrayLike) -> list[list[str]]:
        """The cross references of each row; of a retired one, as they were."""
        return self._merged(rows, self._store.xrefs_at, lambda entity: list(entity.xrefs))

    def entity_at(self, row: int) -> Entity:
        """The entity in a row; for a retired one, as it was."""
        return self.entities_at([row])[0]

    def entities_at(self, rows: ArrayLike) -> list[Entity]:
        """The entities in rows; for retired ones, as they were."""
        return self._merged(rows, self._store.entities_at, lambda entity: entity)

    def _merged(
        self, rows: ArrayLike, stored: Callable[[Rows], list[Value]], value_of: Callable[[Entity], Value]
    ) -> list[Value]:
        """The values of rows: of the entity where a row changed, otherwise the stored one."""
        checked, changed = self._checked(rows), self._overlay.rows
        if not changed:
            return stored(checked)
        entities = [changed[row][0] if row in changed else None for row in checked.tolist()]
        values = iter(stored(checked[np.array([entity is None for entity in entities], dtype=bool)]))
        return [next(values) if entity is None else value_of(entity) for entity in entities]

    def normalized_names_at(self, rows: ArrayLike) -> tuple[list[str], Rows]:
        """Names in normal form, as stored.

        Args:
            rows: (n,) rows.

        Returns:
            The distinct normalised names of all rows, and (n + 1,)
            offsets: row i has those at ``offsets[i]:offsets[i + 1]``; a retired row has none.
        """
        checked, changed = self._checked(rows), self._overlay.names
        if changed.keys().isdisjoint(checked.tolist() if changed else ()):
            return self._store.normalized_names_at(checked)
        unchanged = np.array([row for row in checked.tolist() if row not in changed], dtype=np.int64)
        names, offsets = self._store.normalized_names_at(unchanged)
        bounds = offsets.tolist()
        stored = (names[start:end] for start, end in zip(bounds[:-1], bounds[1:], strict=True))
        names_by_row = [changed[row] if row in changed else next(stored) for row in checked.tolist()]
        return list(chain.from_iterable(names_by_row)), offsets_of(np.array(list(map(len, names_by_row))))

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
        for row, stored in enumerate(self._store.items()):
            yield self._overlay.rows.get(row, stored)
        for row in range(self._store.n_rows, self.n_rows):
            yield self._overlay.rows[row]

    @property
    def live(self) -> Mask:
        """By row; False = retired. Do not write to it."""
        if self._live is None:
            self._live = self._store.live
            if changed := self._overlay.rows:
                self._live = np.append(self._store.live, np.ones(len(self._overlay.new_rows), dtype=bool))
                self._live[list(changed)] = [live for _, live in changed.values()]
            self._live.flags.writeable = False
        return self._live

    def is_live(self, row: int) -> bool:
        """Whether a row holds an entity that is not retired. In a series of changes, this is faster than ``live``."""
        changed = self._overlay.rows.get(row)
        return bool(self._store.live[row]) if changed is None else changed[1]

    @property
    def live_rows(self) -> Rows:
        """The rows of live entities, ascending."""
        if self._live_rows is None:
            self._live_rows = np.flatnonzero(self.live)
            self._live_rows.flags.writeable = False
        return self._live_rows

    def types(self) -> dict[str, int]:
        """Live entities by type, the most frequent type first."""
        counts = Counter(self._store.type_counts())
        for row, (entity, live) in self._overlay.rows.items():
            if row < self._store.n_rows and self._store.live[row]:
                counts.subtract(self._store.entities_at(np.array([row]))[0].types)
            if live:
                counts.update(entity.types)
        pairs = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        return {name: count for name, count in pairs if count > 0}

    def field_counts(self) -> dict[str, int]:
        """How many live entities have aliases, types, a definition, cross references and parents."""
        counts = self._store.field_counts()
        for row, (entity, live) in self._overlay.rows.items():
            was_live = row < self._store.n_rows and self._store.live[row]
            before = self._store.entities_at(np.array([row]))[0] if was_live else None
            for name in counts:
                counts[name] += bool(live and getattr(entity, name)) - bool(before and getattr(before, name))
        return counts

    def rows_with_types(self, types: Collection[str]) -> NDArray[np.bool_]:
        """By row; True = live and of any of these types."""
        wanted = frozenset(types)
        mask = np.zeros(self.n_rows, dtype=bool)
        mask[: self._store.n_rows] = self._store.rows_with_types(wanted)
        for row, (entity, _) in self._overlay.rows.items():
            mask[row] = not wanted.isdisjoint(entity.types)
        return mask & self.live

    # --- changes

    def add(self, entities: Iterable[Entity]) -> Rows:
        """Add entities. One with the id of a retired entity gets the row of that entity.

        Returns:
            Their rows.

        Raises:
            PelError: if an id exists already or is given twice; nothing is added then.
        """
        return self._notify(put_entities(self, entities, are_new=True))

    def update(self, entities: Iterable[Entity]) -> Rows:
        """Replace entities by others with the same ids.

        Returns:
            Their rows.

        Raises:
            PelError: if an id is unknown or retired; nothing is changed then.
        """
        return self._notify(put_entities(self, entities, are_new=False))

    def put(self, entities: Iterable[Entity]) -> Rows:
        """Add entities, or replace those whose ids are live. Listeners are called once for each call, so pass
        many entities together.

        Returns:
            Their rows.

        Raises:
            PelError: if an id is given twice; nothing is changed then.
        """
        return self._notify(put_entities(self, entities))

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
        return self._notify(retire_entities(self, ids, successor or {}))

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
        return self._notify(rename_entities(self, names, keep_old=keep_old))

    @property
    def edits(self) -> Mapping[str, Edit]:
        """Curators' edits by id, the first edited first."""
        return self._store.edits if self._overlay.edits is None else self._overlay.edits

    def withdraw(self, ids: Iterable[str]) -> Rows:
        """Withdraw edits: the entities are as the source has them again. One that it lacks is retired.

        Args:
            ids: of edited entities.

        Returns:
            Their rows.

        Raises:
            PelError: if one was not edited; nothing is changed then.
        """
        return self._notify(withdraw_edits(self, ids))

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
        update = follow_release(self, entities, retired, as_edits=as_edits)
        self._notify(self.find_ids(update.changed))
        return update

    def states(self, ids: Sequence[str]) -> list[State]:
        """What there is for each id."""
        rows = self.find_ids(ids)
        entities = iter(self.entities_at(rows[rows >= 0]))
        states = []
        for entity_id, row in zip(ids, rows.tolist(), strict=True):
            live = row >= 0 and self.is_live(row)
            successor = None if live else self.redirect(entity_id)
            states.append(State(next(entities) if row >= 0 else None, live, successor))
        return states

    def source_states(self, ids: Sequence[str]) -> list[State]:
        """What the source has for each id: the knowledge base without the edits."""
        pairs = zip(ids, self.states(ids), strict=True)
        return [self.edits[entity_id].release if entity_id in self.edits else state for entity_id, state in pairs]

    def set_state(self, entity_id: str, state: State) -> None:
        """Set what there is for an id, unchecked and without telling the listeners. Rows stay: an id whose new
        state has no entity is retired.
        """
        row = int(self.find_ids([entity_id])[0])
        if state.entity is not None or row >= 0:
            entity, live = state.entity or self.entity_at(row), state.live and state.entity is not None
            if row >= 0:
                self._count(row, self.entity_at(row), self.is_live(row), -1)
            else:
                row = self._overlay.new_rows[entity_id] = self.n_rows
                self._counts["rows"] += 1
            self._count(row, entity, live, 1)
            self._overlay.put(row, entity, live=live)
            self._forget_derived()
        self._set_redirect(entity_id, state.successor)

    def set_edit(self, entity_id: str, edit: Edit | None) -> None:
        """Note how a curator changed an entity; None = it is as the source has it."""
        if self._overlay.edits is None:
            self._overlay.edits = dict(self._store.edits)
        if edit is None:
            self._overlay.edits.pop(entity_id, None)
        else:
            self._overlay.edits[entity_id] = edit

    def _count(self, row: int, entity: Entity, live: bool, sign: int) -> None:
        self._total += sign * row_digest(row, entity, live)
        self._counts["entities"] += sign * live
        self._counts["aliases"] += sign * live * len(entity.aliases)

    def _set_redirect(self, old: str, new: str | None) -> None:
        current = self.redirect(old)
        if current == new:
            return
        for successor, sign in ((current, -1), (new, 1)):
            if successor is not None:
                self._total += sign * redirect_digest(old, successor)
                self._counts["redirects"] += sign
        self._overlay.redirects[old] = new
        self._forget_derived()

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
        self._listeners = [reference for reference in self._listeners if reference() is not None]
        for reference in self._listeners if len(rows) else ():
            if (listener := reference()) is not None:
                listener(self, rows)
        return rows


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
