"""Reads the files of a knowledge base folder in place, without loading them."""

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...types import Entity
from ...util import read_json, write_json
from ...util.saved_folder import MANIFEST, Buffer, check_folder, damaged, pack_files, unpack_files
from .alias_map import AliasMap
from .arrow_files import Rows, Table, find_strings, read_arrays
from .edits import Edit, edits_from_bytes
from .name_search import FoundName
from .store_writer import EDITS, ENTITIES, FILES, IDS, KIND, META, REDIRECTS, TYPES, VERSION

Mask = NDArray[np.bool_]


class ArrowStore:
    """The saved, unchanging part of a knowledge base; rows count from 0.

    Args:
        meta: the contents of meta.json.
        buffers: the contents of the other files by name, memory-mapped or not.
        path: the folder they come from, if they come from one.
    """

    def __init__(self, meta: dict[str, Any], buffers: dict[str, pa.Buffer], path: Path | None = None):
        self.meta = meta
        self.buffers = buffers
        self.path = path
        where = path or "the given bytes"
        if missing := [name for name in FILES if name not in buffers]:
            raise damaged(where, KIND, missing[0], "none")
        try:
            self._table = Table(buffers[ENTITIES])
            ids = read_arrays(buffers[IDS])
            self._redirects = Table(buffers[REDIRECTS])
            self._aliases = AliasMap(buffers)
            types = pa.ipc.open_file(buffers[TYPES]).get_batch(0)
        except (pa.ArrowException, OSError) as err:
            raise damaged(where, KIND, "Arrow files", f"damaged ones ({err})") from err
        self._id_hashes, self._id_rows = ids["hash"], ids["row"]
        self.type_names: list[str] = types.column("name").to_pylist()
        if not len(self._id_hashes) == len(self._table) == meta["counts"]["rows"]:
            raise damaged(where, KIND, "files with the same number of rows", "different numbers")

    @classmethod
    def open(cls, path: str | Path) -> "ArrowStore":
        """Memory-map a folder.

        Raises:
            PelError: if it is missing, damaged or of another format version.
        """
        path = Path(path)
        check_folder(path, kind=KIND, version=VERSION)
        buffers = {}
        for name in (*FILES, EDITS):
            if (path / name).is_file():
                with pa.memory_map(str(path / name)) as source:
                    buffers[name] = source.read_buffer()
        return cls(read_json(path / META), buffers, path)

    @classmethod
    def read(cls, folder: Path) -> "ArrowStore":
        """In memory, from the files that a StoreWriter has just written."""
        files = [folder / name for name in (*FILES, EDITS) if (folder / name).is_file()]
        return cls(read_json(folder / META), {file.name: pa.py_buffer(file.read_bytes()) for file in files})

    @classmethod
    def from_bytes(cls, data: Buffer) -> "ArrowStore":
        """A view of what ``to_bytes`` returned. RAISES (PelError): for other bytes."""
        files = unpack_files(data, kind=KIND)
        if META not in files:
            raise damaged("the given bytes", KIND, META, "none")
        try:
            meta = json.loads(bytes(files.pop(META)))
            version = meta["version"]
        except (ValueError, KeyError, TypeError) as err:
            raise damaged("the given bytes", KIND, f"{META} with a version", "another file") from err
        if version != VERSION:
            text = Errors.E005.format(kind=KIND, path="the given bytes", expected=VERSION, got=version)
            raise PelError(text)
        return cls(meta, {name: pa.py_buffer(content) for name, content in files.items()})

    def to_bytes(self) -> bytes:
        """All files. RAISES (PelError): if they are more than 2 GiB."""
        return pack_files({META: json.dumps(self.meta).encode("utf8"), **self.buffers}, kind=KIND)

    def write_to(self, folder: Path) -> None:
        """Copy the files to an empty folder."""
        for name, buffer in self.buffers.items():
            with (folder / name).open("wb") as file:
                file.write(buffer)
        write_json(folder / META, self.meta)

    def is_at(self, path: Path) -> bool:
        """Whether this store was opened from that folder, unchanged since."""
        if self.path is None or self.path.resolve() != path.resolve():
            return False
        whole = (path / MANIFEST).is_file() and (path / META).is_file()
        return whole and read_json(path / META) == self.meta

    @property
    def n_rows(self) -> int:
        return len(self._table)

    @cached_property
    def live(self) -> Mask:
        """By row; False = retired."""
        parts = [chunk.column("live").to_numpy(zero_copy_only=False) for chunk in self._table.chunks()]
        return np.concatenate(parts).astype(bool) if parts else np.zeros(0, dtype=bool)

    @cached_property
    def edits(self) -> dict[str, Edit]:
        """Curators' edits by id. RAISES (PelError): if the file is damaged."""
        if EDITS not in self.buffers:
            return {}
        try:
            return edits_from_bytes(self.buffers[EDITS])
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            where = self.path or "the given bytes"
            raise damaged(where, KIND, f"edits in {EDITS}", f"an error ({err})") from err

    def validate(self) -> None:
        """Raises:
        PelError: if a file's contents are not what Arrow can read safely.
        """
        self.edits  # noqa: B018
        for name in FILES:
            try:
                for chunk in Table(self.buffers[name]).chunks():
                    chunk.validate(full=True)
            except (pa.ArrowException, OSError) as err:
                where = self.path or "the given bytes"
                raise damaged(where, KIND, f"a readable {name}", f"a damaged one ({err})") from err

    def find_ids(self, ids: Sequence[str]) -> Rows:
        """The row of each id, retired or not; -1 = unknown."""
        at = find_strings(ids, self._id_hashes, lambda at: self.ids_at(self._id_rows[at].astype(np.int64)))
        return np.where(at >= 0, self._id_rows[at], -1).astype(np.int64) if self.n_rows else at

    def find_names(self, names: Sequence[str]) -> list[Rows]:
        """The rows that have each normalised name, ascending."""
        return self._aliases.find(names)

    def search_names(self, text: str, n: int) -> list[tuple[FoundName, Rows]]:
        """See ``AliasMap.search``."""
        return self._aliases.search(text, n)

    def redirect(self, old: str) -> str | None:
        """The successor noted for a retired id."""
        hashes = self._redirects.chunk(0).column("hash").to_numpy()
        at = find_strings([old], hashes, lambda at: self._redirects.texts("old", at))
        return None if at[0] < 0 else self._redirects.value("new", int(at[0]))

    def redirects(self) -> dict[str, str]:
        """All of them."""
        columns = self._redirects.chunk(0).to_pydict()
        return dict(zip(columns["old"], columns["new"], strict=True))

    def id_at(self, row: int) -> str:
        return self._table.value("concept_id", row)

    def ids_at(self, rows: Rows) -> list[str]:
        return self._table.texts("concept_id", rows)

    def name_at(self, row: int) -> str:
        return self._table.value("canonical_name", row)

    def names_at(self, rows: Rows) -> list[list[str]]:
        names = self._table.texts("canonical_name", rows)
        aliases = self._table.take("aliases", rows).to_pylist()
        return [[name, *others] for name, others in zip(names, aliases, strict=True)]

    def types_at(self, rows: Rows) -> list[list[str]]:
        names = self.type_names
        return [[names[code] for code in codes] for codes in self._table.take("types", rows).to_pylist()]

    def normalized_names_at(self, rows: Rows) -> tuple[list[str], Rows]:
        """See ``AliasMap.names_at``."""
        return self._aliases.names_at(rows)

    def entity_at(self, row: int) -> Entity:
        return entity_of_record(self._table.record(row), self.type_names)

    def entities_at(self, rows: Rows) -> list[Entity]:
        names = ("concept_id", "canonical_name", "aliases", "types", "definition")
        columns = [self._table.take(name, rows).to_pylist() for name in names]
        records = (dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True))
        return [entity_of_record(record, self.type_names) for record in records]

    def entities(self) -> Iterator[tuple[Entity, bool]]:
        """Every row in order, and whether it is live."""
        for chunk in self._table.chunks():
            for record in chunk.to_pylist():
                yield entity_of_record(record, self.type_names), record["live"]

    def type_counts(self) -> NDArray[np.int64]:
        """How many live rows have each of type_names."""
        counts = np.zeros(len(self.type_names), dtype=np.int64)
        for start, chunk in zip(self._table.starts, self._table.chunks(), strict=False):
            offsets, codes = _ragged(chunk.column("types"))
            live = self.live[start : start + chunk.num_rows]
            counts += np.bincount(codes[np.repeat(live, np.diff(offsets))], minlength=len(counts))
        return counts

    def rows_with_types(self, wanted: Mask) -> Mask:
        """By row; has any of the types wanted[i] of type_names[i]."""
        parts = [np.zeros(0, dtype=bool)]
        for chunk in self._table.chunks():
            offsets, codes = _ragged(chunk.column("types"))
            hits = np.append(0, np.cumsum(wanted[codes]))
            parts.append(hits[offsets[1:]] > hits[offsets[:-1]])
        return np.concatenate(parts)


def entity_of_record(record: dict[str, Any], type_names: Sequence[str]) -> Entity:
    """The entity in a row of entities.arrow."""
    return Entity(
        concept_id=record["concept_id"],
        canonical_name=record["canonical_name"],
        aliases=tuple(record["aliases"]),
        types=tuple(type_names[kind] for kind in record["types"]),
        definition=record["definition"],
    )


def _ragged(column: pa.ListArray) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return column.offsets.to_numpy(), column.values.to_numpy()
