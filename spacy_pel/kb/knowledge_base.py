"""The knowledge base: entities by id, by row and by name, in memory-mapped Arrow files."""

import tempfile
from pathlib import Path
from typing import Any, Collection, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Errors, PelError
from ..types import Entity, Rows
from ..util import atomic_path, normalize_alias, progress
from .build import build_store
from .changes import add_entities, retire_entities, update_entities
from .store.arrow_store import ArrowStore
from .store.merged_store import MergedStore
from .store.pack import pack, unpack
from .store.save import check_target, copy_store, merge_store

PathLike = Union[str, Path]
_TEMPORARY = "spacy_pel_kb_"


class KnowledgeBase:
    """Entities with their names, types and definitions.

    Every entity has a row that never changes: new entities come at the end, a retired one keeps
    its row as a tombstone. The saved part is read where it lies on the disk; changes wait in
    memory until ``to_disk`` merges them. Wherever an id is asked for, an id that was retired with
    a successor (or that the source redirects) leads to the successor. Names are compared in the
    form that ``util.normalize_alias`` gives them.

    entities (Iterable[Entity]): for a small knowledge base in memory; see ``build`` for large ones.
    redirects (Optional[Mapping[str, str]]): retired id -> its successor.
    source (Optional[Mapping[str, Any]]): origin, version, licence: JSON data.
    strict (bool): faults of entities are errors; otherwise they are mended and counted.
    """

    def __init__(
        self,
        entities: Iterable[Entity] = (),
        *,
        redirects: Optional[Mapping[str, str]] = None,
        source: Optional[Mapping[str, Any]] = None,
        strict: bool = False,
    ):
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY) as holder:
            folder = Path(holder) / "kb"
            build_store(folder, entities, redirects=redirects, source=source, strict=strict)
            self._merged = MergedStore(ArrowStore.read(folder))

    @classmethod
    def _of(cls, store: ArrowStore) -> "KnowledgeBase":
        kb = cls.__new__(cls)
        kb._merged = MergedStore(store)
        return kb

    @classmethod
    def build(
        cls,
        entities: Iterable[Entity],
        path: PathLike,
        *,
        source: Optional[Mapping[str, Any]] = None,
        redirects: Optional[Mapping[str, str]] = None,
        strict: bool = False,
        show_progress: bool = False,
    ) -> "KnowledgeBase":
        """Write a knowledge base folder from a stream, and open it. Memory stays bounded.

        entities (Iterable[Entity]): read once.
        path (Union[str, Path]): the folder; a knowledge base that is there is replaced.
        source, redirects, strict: as above; the first two are looked at after the entities.
        show_progress (bool): show a progress bar.
        RETURNS (KnowledgeBase): memory-mapped.
        RAISES (PelError): if there are no entities, or the folder cannot be written.
        """
        check_target(Path(path))
        stream = progress(entities, description="entities", show=show_progress)
        with atomic_path(path) as part:
            n_rows = build_store(part, stream, redirects=redirects, source=source, strict=strict)
            if not n_rows:
                raise PelError(Errors.E102.format(path=path))
        return cls.from_disk(path)

    # --- disk, bytes, processes

    @classmethod
    def from_disk(cls, path: PathLike) -> "KnowledgeBase":
        """Open a folder, memory-mapped. RAISES (PelError): if it is missing, damaged or too old or new."""
        return cls._of(ArrowStore.open(path))

    def to_disk(self, path: PathLike) -> None:
        """Write the folder with the changes merged; rows stay the same.

        RAISES (PelError): if the folder holds something else or cannot be written.
        """
        path = Path(path)
        if not self._merged.overlay:
            copy_store(self._merged.store, path)
            return
        merge_store(self._merged, path)
        if self.path is not None and self.path.resolve() == path.resolve():
            self._merged = MergedStore(ArrowStore.open(path))

    def to_bytes(self) -> bytes:
        """RETURNS (bytes): what ``to_disk`` would write. RAISES (PelError): if it is over 2 GiB."""
        if not self._merged.overlay:
            return pack(self._merged.store.meta, self._merged.store.buffers)
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY) as holder:
            merge_store(self._merged, Path(holder) / "kb")
            store = ArrowStore.read(Path(holder) / "kb")
        return pack(store.meta, store.buffers)

    @classmethod
    def from_bytes(cls, data: bytes) -> "KnowledgeBase":
        """RAISES (PelError): if this is not what ``to_bytes`` gave."""
        return cls._of(ArrowStore(*unpack(data)))

    def __reduce__(self) -> Any:
        store = self._merged.store
        if store.path is not None and not self._merged.overlay and store.is_at(store.path):
            # another process maps the same files: nothing is copied
            return _reopen, (str(store.path.resolve()), self.fingerprint)
        return KnowledgeBase.from_bytes, (self.to_bytes(),)

    @property
    def path(self) -> Optional[Path]:
        """RETURNS (Optional[Path]): the folder it was opened from; None = it is in memory."""
        return self._merged.store.path

    @property
    def fingerprint(self) -> str:
        """RETURNS (str): changes with any row or redirect; the same before and after saving."""
        return self._merged.fingerprint

    @property
    def meta(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): format, version, fingerprint, counts, source, report of repairs."""
        return self._merged.meta()

    @property
    def source(self) -> Dict[str, Any]:
        """RETURNS (Dict[str, Any]): origin, version, licence, reader settings."""
        return self._merged.store.meta["source"]

    # --- by id

    def __len__(self) -> int:
        return self._merged.counts["entities"]

    @property
    def n_rows(self) -> int:
        """RETURNS (int): rows, those of retired entities included."""
        return self._merged.counts["rows"]

    def __contains__(self, entity_id: object) -> bool:
        return isinstance(entity_id, str) and self.row(entity_id) >= 0

    def __getitem__(self, entity_id: str) -> Entity:
        row = self.row(entity_id)
        if row < 0:
            raise PelError(Errors.E100.format(id=entity_id, n=len(self)))
        return self._merged.entity_at(row)

    def resolve(self, entity_id: str) -> Optional[str]:
        """RETURNS (Optional[str]): this id, or its successor if it was retired; None = unknown."""
        row = self.row(entity_id)
        return self.id_at(row) if row >= 0 else None

    def row(self, entity_id: str) -> int:
        """RETURNS (int): the row of an entity, following redirects; -1 = unknown."""
        return int(self.rows([entity_id])[0])

    def rows(self, ids: Sequence[str]) -> Rows:
        """RETURNS (NDArray[int64]): the row of each entity, following redirects; -1 = unknown."""
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

    def validate(self) -> None:
        """RAISES (PelError): if the saved files are not safe to read; reads all of them."""
        self._merged.store.validate()

    def redirects(self) -> Dict[str, str]:
        """RETURNS (Dict[str, str]): retired ids and their successors."""
        return self._merged.redirects()

    # --- by name

    def ids(self, alias: str) -> List[str]:
        """RETURNS (List[str]): the entities that have this name, compared in normal form."""
        return self._merged.ids_at(self.rows_of_alias(alias))

    def rows_of_alias(self, alias: str) -> Rows:
        """RETURNS (NDArray[int64]): the rows of the entities that have this name, ascending."""
        return self.rows_of_aliases([alias])[0]

    def rows_of_aliases(self, aliases: Sequence[str], *, normalized: bool = False) -> List[Rows]:
        """Look up many names at once.

        aliases (Sequence[str]): names.
        normalized (bool): they are in normal form already (see ``util.normalize_alias``).
        RETURNS (List[NDArray[int64]]): ``rows_of_alias`` of each.
        """
        return self._merged.find_names(aliases if normalized else list(map(normalize_alias, aliases)))

    # --- by row

    def id_at(self, row: int) -> str:
        """RETURNS (str): the id of a row, live or retired."""
        return self.ids_at([row])[0]

    def ids_at(self, rows: ArrayLike) -> List[str]:
        """RETURNS (List[str]): the ids of rows, live or retired."""
        return self._merged.ids_at(self._checked(rows))

    def name_at(self, row: int) -> str:
        """RETURNS (str): the canonical name in a row."""
        return self._merged.name_at(int(self._checked([row])[0]))

    def names_at(self, rows: ArrayLike) -> List[List[str]]:
        """RETURNS (List[List[str]]): canonical name and aliases of each row."""
        return self._merged.names_at(self._checked(rows))

    def normalized_names_at(self, rows: ArrayLike) -> Tuple[List[str], Rows]:
        """Names in normal form, as they were stored: nothing is normalised here.

        rows (ArrayLike): (n,) rows.
        RETURNS (Tuple[List[str], NDArray[int64]]): the distinct normalised names of all rows, and (n + 1,)
            offsets: row i has those at ``offsets[i]:offsets[i + 1]``; a retired row has none.
        """
        return self._merged.normalized_names_at(self._checked(rows))

    def entity_at(self, row: int) -> Entity:
        """RETURNS (Entity): the entity in a row; for a retired one, as it was."""
        return self._merged.entity_at(int(self._checked([row])[0]))

    def _checked(self, rows: ArrayLike) -> Rows:
        checked = np.asarray(rows, dtype=np.int64)
        if len(checked) and not 0 <= checked.min() <= checked.max() < self.n_rows:
            wrong = checked.min() if checked.min() < 0 else checked.max()
            raise PelError(Errors.E110.format(last=self.n_rows - 1, row=wrong))
        return checked

    def entities(self) -> Iterator[Entity]:
        """YIELDS (Entity): the live entities in the order of their rows."""
        return (entity for entity, live in self.items() if live)

    def items(self) -> Iterator[Tuple[Entity, bool]]:
        """YIELDS (Tuple[Entity, bool]): every row in order, and whether it is live."""
        return self._merged.items()

    @property
    def live_rows(self) -> Rows:
        """RETURNS (NDArray[int64]): the rows of live entities, ascending."""
        return self._merged.live_rows

    def types(self) -> Dict[str, int]:
        """RETURNS (Dict[str, int]): live entities by type, the most frequent type first."""
        return self._merged.type_counts()

    def rows_with_types(self, types: Collection[str]) -> NDArray[np.bool_]:
        """RETURNS (NDArray[bool]): by row; True = live and of any of these types. Do not write to it."""
        return self._merged.rows_with_types(types)

    # --- changes

    def add(self, entities: Iterable[Entity]) -> Rows:
        """Add entities. One with the id of a retired entity takes that one's row again.

        RETURNS (NDArray[int64]): their rows.
        RAISES (PelError): if an id is there already or comes twice; nothing is added then.
        """
        return add_entities(self._merged, entities)

    def update(self, entities: Iterable[Entity]) -> Rows:
        """Replace entities by others of the same ids.

        RETURNS (NDArray[int64]): their rows.
        RAISES (PelError): if an id is unknown or retired; nothing is changed then.
        """
        return update_entities(self._merged, entities)

    def retire(self, ids: Iterable[str], successor: Optional[Mapping[str, str]] = None) -> Rows:
        """Retire entities: no name finds them any more; their ids lead to their successors, if any.

        ids (Iterable[str]): live ids.
        successor (Optional[Mapping[str, str]]): id -> the id that replaces it.
        RETURNS (NDArray[int64]): their rows, which stay empty.
        RAISES (PelError): if an id or a successor is not live; nothing is changed then.
        """
        return retire_entities(self._merged, ids, successor or {})


def _reopen(path: str, fingerprint: str) -> KnowledgeBase:
    kb = KnowledgeBase.from_disk(path)
    if kb.fingerprint != fingerprint:
        raise PelError(Errors.E109.format(path=path, expected=fingerprint, got=kb.fingerprint))
    return kb
