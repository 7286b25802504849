"""The knowledge base: entities by id, by row and by name, in memory-mapped Arrow files."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import Errors, PelError
from ..types import Entity, Rows
from ..util import PathLike, normalize_alias, progress
from ..util.arrays import Ragged, grouped
from ..util.processes import reopened
from ..util.saved_folder import Buffer, read_whole, write_folder
from ..util.xrefs import vocabulary_name, xref_key
from .arrow_store import ArrowStore, Mask
from .changed_store import ChangedStore, distinct_ids
from .codes import codes_at, vocabularies
from .sources import listed
from .store_writer import KIND, META, VERSION, Ids, Source, build_store


class KnowledgeBase(ChangedStore):
    """Entities with their names, types, definitions, cross references and broader entities.

    Every entity has a row that never changes: new entities are appended, a retired one keeps its row as a
    tombstone. The saved part is memory-mapped; changes are kept in memory until ``to_disk`` merges them.
    Wherever an id is expected, an id that was retired with a successor (or that the source redirects) is
    resolved to the successor. Names are compared in normal form (``util.normalize_alias``).

    ``put``, ``retire`` and ``rename`` are edits of a curator: they are noted, stay
    through later releases of the source (``release``), and can be withdrawn.

    Args:
        entities: for a small knowledge base in memory; see ``build`` for large ones.
        redirects: retired id -> its successor.
        source: origin, version, licence: JSON data.
    """

    def __init__(self, entities: Iterable[Entity] = (), *, redirects: Ids = None, source: Source = None):
        with TemporaryDirectory(prefix="spacy_pel_kb_") as folder:
            build_store(Path(folder), entities, redirects=redirects, source=source)
            super().__init__(ArrowStore.read(Path(folder)))

    @classmethod
    def _of(cls, store: ArrowStore) -> "KnowledgeBase":
        kb = cls.__new__(cls)
        ChangedStore.__init__(kb, store)
        return kb

    @classmethod
    def build(
        cls,
        entities: Iterable[Entity],
        path: PathLike,
        *,
        source: Source = None,
        redirects: Ids = None,
        show_progress: bool = False,
    ) -> "KnowledgeBase":
        """Write a knowledge base folder from a stream, and open it. Memory stays bounded.

        Args:
            entities: read once.
            path: the folder; an existing knowledge base is replaced.
            source, redirects: as above; they are read after the entities.
            show_progress: show a progress bar.

        Returns:
            Memory-mapped.

        Raises:
            PelError: if there are no entities, or the folder cannot be written.
        """
        stream = progress(entities, description="Writing entities", show=show_progress)
        with _new_folder(Path(path)) as part:
            if not build_store(part, stream, redirects=redirects, source=source):
                raise PelError(Errors.E102.format(path=path))
        return cls.from_disk(path)

    # --- disk, bytes, processes

    @classmethod
    def from_disk(cls, path: PathLike) -> "KnowledgeBase":
        """Open a folder, memory-mapped.

        Raises:
            PelError: if it is missing, damaged, or has another format version.
        """
        return cls._of(read_whole(Path(path), lambda: ArrowStore.open(path)))

    def to_disk(self, path: PathLike) -> None:
        """Write the folder with the changes merged; rows stay the same.

        Raises:
            PelError: if the folder holds something else or cannot be written.
        """
        path = Path(path)
        if self.is_at(path):
            return
        with _new_folder(path) as part:
            self.write_to(part)
        if self.path is not None and self.path.resolve() == path.resolve():
            self._open(ArrowStore.open(path))

    @classmethod
    def from_bytes(cls, data: Buffer) -> "KnowledgeBase":
        """The reverse of ``to_bytes``.

        Raises:
            PelError: if this is not what ``to_bytes`` returned.
        """
        return cls._of(ArrowStore.from_bytes(data))

    def __reduce__(self) -> Any:
        path = self.path
        if path is not None and self.is_at(path):
            # another process can map the same files: nothing is copied
            return reopened, (KnowledgeBase.from_disk, "KB", str(path.resolve()), self.fingerprint)
        return KnowledgeBase.from_bytes, (self.to_bytes(),)

    @property
    def fingerprint(self) -> str:
        """Changes with any row or redirect; the same before and after saving."""
        return str(self.meta["fingerprint"])

    @property
    def source(self) -> dict[str, Any]:
        """Origin, version, licence, reader settings."""
        return self.meta["source"]  # type: ignore[no-any-return]

    @property
    def sources(self) -> list[dict[str, Any]]:
        """Whose names are in it, see ``kb.sources.listed``; those of a curator as "own edits"."""
        counts = self.meta["counts"]
        found = listed({"entities": counts["entities"], **self.source})
        if n := sum(edit.put or bool(edit.names) for edit in self.edits.values()) if counts["edits"] else 0:
            found.append({"name": "own edits", "entities": n})
        return found

    # --- by id

    def __len__(self) -> int:
        return int(self.meta["counts"]["entities"])

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
        is_known = rows >= 0
        is_known[is_known] = self.live[rows[is_known]]
        if not is_known.all():
            unknown = np.flatnonzero(~is_known).tolist()
            successors = self._successors([ids[i] for i in unknown])
            for i, successor in zip(unknown, successors, strict=True):
                rows[i] = -1 if successor is None else self._row_of_successor(ids[i], successor)
        return rows

    def _row_of_successor(self, entity_id: str, successor: str) -> int:
        passed = {entity_id}
        new: str | None = successor
        while new is not None and new not in passed:
            row = int(self.find_ids([new])[0])
            if row >= 0 and self._is_live(row):
                return row
            passed.add(new)
            (new,) = self._successors([new])
        return -1

    def is_retired(self, entity_id: str) -> bool:
        """Whether an entity had this id that was retired."""
        row = int(self.find_ids([entity_id])[0])
        return row >= 0 and not self._is_live(row)

    # --- by name

    def ids(self, alias: str) -> list[str]:
        """The entities that have this name, compared in normal form.

        Raises:
            PelError: if the name is not text.
        """
        return self.ids_at(self.rows_of_aliases([_checked_text(alias, "a name")])[0])

    def rows_of_aliases(self, aliases: Sequence[str], *, normalized: bool = False) -> list[Rows]:
        """Look up many names at once.

        Args:
            aliases: names.
            normalized: they are in normal form already (see ``util.normalize_alias``).

        Returns:
            For each the rows of the entities that have this name, ascending.
        """
        return self._find("name", aliases if normalized else list(map(normalize_alias, aliases)))

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
        text = normalize_alias(_checked_text(text, "a text"))
        best: dict[int, str] = {}
        for name, rows in self._search_names(text, 4 * n) if text else ():
            for row in rows.tolist():
                best.setdefault(row, name.name)
        return list(zip(self.ids_at(list(best)[:n]), best.values(), strict=False))

    # --- by cross reference

    def xrefs(self, entity_id: str) -> list[str]:
        """The cross references of an entity, e.g. "MESH:D001249".

        Raises:
            PelError: if the id is unknown.
        """
        return self.cells_at([self._known_row(entity_id)], "xrefs")[0][0]

    def ids_of_xref(self, xref: str) -> list[str]:
        """The entities that have this cross reference, in any usual spelling (see ``util.xrefs``).

        Raises:
            PelError: if it is not text.
        """
        text = _checked_text(xref, "a cross reference such as 'MESH:D001249'")
        return self.ids_at(self.rows_of_xrefs([text])[0])

    def rows_of_xrefs(self, xrefs: Sequence[str]) -> list[Rows]:
        """The rows of the entities that have each cross reference, ascending."""
        return self._find("xref", list(map(xref_key, xrefs)))

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
        return self.ids_at(self.hierarchy.above(self._row_array(entity_id), 1))

    def children(self, entity_id: str) -> list[str]:
        """The entities one step narrower."""
        return self.ids_at(self.hierarchy.below(self._row_array(entity_id), 1))

    def ancestors(self, entity_id: str) -> list[str]:
        """All broader entities, the nearest first."""
        return self.ids_at(self.hierarchy.above(self._row_array(entity_id)))

    def descendants(self, entity_id: str) -> list[str]:
        """All narrower entities, the nearest first."""
        return self.ids_at(self.hierarchy.below(self._row_array(entity_id)))

    def rows_below(self, ids: Iterable[str]) -> Mask:
        """By row; True = one of these entities, or narrower than one. Unknown ids do not count.

        Raises:
            PelError: if ids are one string.
        """
        rows = self.rows(distinct_ids(ids))
        rows = rows[rows >= 0]
        mask = np.zeros(self.n_rows, dtype=bool)
        mask[rows] = mask[self.hierarchy.below(rows)] = True
        return mask

    def _row_array(self, entity_id: str) -> Rows:
        return np.array([self._known_row(entity_id)])

    @property
    def hierarchy(self) -> "Hierarchy":
        """The is-a relations among live entities; empty (false) if there are none."""
        memo = self.memo  # a change in another thread replaces it: what is read meanwhile must not stay
        if "is_a" not in memo:
            children, ids, which = self._is_a_pairs()
            parents = self.rows(ids)[which]
            is_live = (parents >= 0) & self.live[children]
            memo["is_a"] = Hierarchy(children[is_live], parents[is_live], self.n_rows)
        return memo["is_a"]  # type: ignore[no-any-return]

    # --- by row

    def id_at(self, row: int) -> str:
        """The id of a row, live or retired."""
        return self.ids_at([row])[0]

    def ids_at(self, rows: ArrayLike) -> list[str]:
        """The ids of rows, live or retired."""
        return self.cells_at(rows, "concept_id")[0]

    def name_at(self, row: int) -> str:
        """The canonical name in a row."""
        return str(self.cells_at([row], "canonical_name")[0][0])

    def names_at(self, rows: ArrayLike) -> list[list[str]]:
        """Canonical name and aliases of each row."""
        cells = self.cells_at(rows, "canonical_name", "aliases")
        return [[name, *aliases] for name, aliases in zip(*cells, strict=True)]

    def types_at(self, rows: ArrayLike) -> list[list[str]]:
        """The types of each row; of a retired one, as they were."""
        return self.cells_at(rows, "types")[0]

    def entity_at(self, row: int) -> Entity:
        """The entity in a row; for a retired one, as it was."""
        return self.entities_at([row])[0]

    def entities(self) -> Iterator[Entity]:
        """The live entities in the order of their rows."""
        return (entity for entity, live in self.items() if live)

    @cached_property
    def live_rows(self) -> Rows:
        """The rows of live entities, ascending."""
        rows = np.flatnonzero(self.live)
        rows.flags.writeable = False
        return rows


class Hierarchy:
    """The is-a relations between rows. Even in a cycle, no row is above or below itself.

    Args:
        children, parents: (m,) the rows of each pair.
        n_rows: rows of the knowledge base.
    """

    def __init__(self, children: Rows, parents: Rows, n_rows: int):
        self._parents, self._children = grouped(parents, children, n_rows), grouped(children, parents, n_rows)

    def __bool__(self) -> bool:
        return len(self._parents.values) > 0

    def above(self, rows: Rows, steps: int | None = None) -> Rows:
        """The rows that are broader than any of these, the nearest first; ``steps`` at most, None = all."""
        return _reached(self._parents, rows, steps)

    def below(self, rows: Rows, steps: int | None = None) -> Rows:
        """The rows that are narrower, likewise."""
        return _reached(self._children, rows, steps)


def _reached(links: Ragged, rows: Rows, steps: int | None) -> Rows:
    is_new = np.ones(len(links), dtype=np.bool_)
    is_new[rows] = False
    levels = [np.zeros(0, dtype=np.int64)]
    while len(rows) and (steps is None or len(levels) <= steps):
        rows = np.unique(links.take(rows).values)
        rows = rows[is_new[rows]]
        is_new[rows] = False
        levels.append(rows)
    return np.concatenate(levels)


def _new_folder(path: Path) -> AbstractContextManager[Path]:
    """An empty folder that becomes the knowledge base folder at ``path``.

    Raises:
        PelError: if that would replace something other than a knowledge base.
    """
    if path.exists() and not path.is_dir():
        raise PelError(Errors.E111.format(path=path, got="a file"))
    if path.is_dir() and not (path / META).is_file() and any(path.iterdir()):
        raise PelError(Errors.E111.format(path=path, got="a folder with other files"))
    return write_folder(path, kind=KIND, version=VERSION)


def _checked_text(text: str, wanted: str) -> str:
    if not isinstance(text, str):
        raise PelError(Errors.E011.format(expected=wanted, got=repr(text)))
    return text
