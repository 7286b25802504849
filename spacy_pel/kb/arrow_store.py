"""Reads the files of a knowledge base folder in place, without loading them."""

import json
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import Errors, PelError
from ..types import Entity, Rows
from ..util import hash_strings, read_json, write_json
from ..util.arrays import Offsets, in_range, look_up, offsets_of, owners, take_pieces
from ..util.arrow_files import FoundName, Table, mapped, read_arrays, search_names
from ..util.parsing import DATA_ERRORS
from ..util.saved_folder import MANIFEST, Buffer, check_folder, damaged, pack_files, unpack_files
from ..util.xrefs import xref_key
from . import store_writer as files
from .edits import FIELDS, Edit, NoteT, notes_from_bytes
from .sources import Origin
from .store_writer import FILES, KIND, META, OPTIONAL_FILES, VERSION, entities_in, entities_of

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
        if missing := [name for name in FILES if name not in buffers]:
            raise self._damaged(missing[0], "none")
        try:
            self._entities = Table(buffers[files.ENTITIES])
            self._redirects = Table(buffers[files.REDIRECTS])
            self._names = Table(buffers[files.NAMES])
            ids, names = read_arrays(buffers[files.IDS]), read_arrays(buffers[files.NAME_HASHES])
            xrefs = read_arrays(buffers[files.XREFS])
            self._name_rows = read_arrays(buffers[files.ROWS_OF_NAMES])["row"]
            names_of_rows = Table(buffers[files.NAMES_OF_ROWS]).chunk(0).column("names")
            types = Table(buffers[files.TYPES]).chunk(0)
            types.validate(full=True)  # a wrong offset would end the process
            self.type_names: list[str] = types.column("name").to_pylist()
            self._id_hashes, self._id_rows = ids["hash"], ids["row"]
            self._xref_hashes, self._xref_rows = xrefs["hash"], xrefs["row"]
            # of each distinct name: its hash, ascending, and where its rows start
            self._name_hashes, self._name_starts = names["hash"], names["start"]
            self._names_of_rows_offsets, self._names_of_rows = _offsets_and_values(names_of_rows)
        except (pa.ArrowException, OSError, *DATA_ERRORS) as err:
            raise self._damaged("Arrow files", f"damaged ones ({err})") from err
        self.n_rows = len(self._entities)
        if not len(self._id_hashes) == self.n_rows == meta["counts"]["rows"]:
            raise self._damaged("files with the same number of rows", "different numbers")
        self._check_numbers()

    def _check_numbers(self) -> None:
        """Raises:
        PelError: if a number in a file is of no row, name or type, which would be found while linking only.
        """
        offsets, starts = self._names_of_rows_offsets, self._name_starts
        types = (chunk.column("types") for chunk in self._entities.chunks())
        fits = {
            files.IDS: in_range(self._id_rows, self.n_rows),
            files.NAME_HASHES: len(starts) == len(self._names) and _ascend(starts, len(self._name_rows)),
            files.ROWS_OF_NAMES: in_range(self._name_rows, self.n_rows),
            files.NAMES_OF_ROWS: len(offsets) == self.n_rows + 1
            and _ascend(offsets, len(self._names_of_rows))
            and in_range(self._names_of_rows, len(self._names)),
            files.XREFS: in_range(self._xref_rows, self.n_rows),
            files.ENTITIES: all(in_range(np.from_dlpack(column.values), len(self.type_names)) for column in types),
        }
        for name in (name for name, it_fits in fits.items() if not it_fits):
            raise self._damaged(f"numbers of rows in {name}", "other numbers")

    @classmethod
    def open(cls, path: str | Path) -> "ArrowStore":
        """Memory-map a folder.

        Raises:
            PelError: if it is missing, damaged or of another format version.
        """
        path = Path(path)
        check_folder(path, kind=KIND, version=VERSION)
        return cls(read_json(path / META), {file.name: mapped(file) for file in _files(path)}, path)

    @classmethod
    def read(cls, folder: Path) -> "ArrowStore":
        """Load the files that a StoreWriter has just written into memory."""
        return cls(read_json(folder / META), {file.name: pa.py_buffer(file.read_bytes()) for file in _files(folder)})

    @classmethod
    def from_bytes(cls, data: Buffer) -> "ArrowStore":
        """A view of what ``to_bytes`` returned.

        Raises:
            PelError: for other bytes.
        """
        contents = unpack_files(data, kind=KIND)
        try:
            meta = json.loads(bytes(contents.pop(META)))
            version = meta["version"]
        except (ValueError, KeyError, TypeError) as err:
            raise damaged("the given bytes", KIND, f"{META} with a version", "another file or none") from err
        if version != VERSION:
            raise PelError(Errors.E005.format(kind=KIND, path="the given bytes", expected=VERSION, got=version))
        return cls(meta, {name: pa.py_buffer(content) for name, content in contents.items()})

    def to_bytes(self) -> bytes:
        """Pack all files.

        Raises:
            PelError: if they are over 2 GiB.
        """
        return pack_files({META: json.dumps(self.meta).encode("utf8"), **self.buffers}, kind=KIND)

    def write_to(self, folder: Path) -> None:
        """Copy the files to an empty folder."""
        for name, buffer in self.buffers.items():
            (folder / name).write_bytes(buffer)
        write_json(folder / META, self.meta)

    def is_at(self, path: Path) -> bool:
        """Whether this store was opened from that folder, unchanged since."""
        if self.path is None or self.path.resolve() != path.resolve():
            return False
        is_whole = (path / MANIFEST).is_file() and (path / META).is_file()
        return is_whole and read_json(path / META) == self.meta

    def _damaged(self, expected: str, got: str) -> PelError:
        """The error for content that cannot be read."""
        return damaged(self.path or "the given bytes", KIND, expected, got)

    @cached_property
    def live(self) -> Mask:
        """By row; False = retired."""
        parts = [np.from_dlpack(chunk.column("live").cast("uint8")) for chunk in self._entities.chunks()]
        return np.concatenate(parts).astype(bool) if parts else np.zeros(0, dtype=bool)

    @cached_property
    def edits(self) -> dict[str, Edit]:
        """Curators' edits by id.

        Raises:
            PelError: if the file is damaged.
        """
        return self._notes(files.EDITS, Edit)

    @cached_property
    def origins(self) -> dict[str, Origin]:
        """The sources of the entities that not the build alone gave, by id.

        Raises:
            PelError: if the file is damaged.
        """
        return self._notes(files.ORIGINS, Origin)

    def _notes(self, name: str, kind: type[NoteT]) -> dict[str, NoteT]:
        if name not in self.buffers:
            return {}
        try:
            return notes_from_bytes(self.buffers[name], kind)
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            raise self._damaged(f"edits or origins in {name}", f"an error ({err})") from err

    # --- by id and by name

    def find_ids(self, ids: Sequence[str]) -> Rows:
        """The row of each id, retired or not; -1 = unknown."""
        return self._entities.find("concept_id", ids, self._id_hashes, self._id_rows)

    def find_names(self, names: Sequence[str]) -> list[Rows]:
        """The rows that have each normalised name, ascending."""
        none = np.zeros(0, dtype=np.int64)
        positions = self._names.find("name", names, self._name_hashes).tolist()
        return [none if position < 0 else self._rows_of_name(position) for position in positions]

    def names_of_hashes(self, hashes: NDArray[np.uint64]) -> list[str | None]:
        """The normalised name with each hash, None where no entity has one."""
        if not len(self._name_hashes):
            return [None] * len(hashes)
        positions, known = look_up(self._name_hashes, hashes)
        (names,) = self._names.cells(positions.astype(np.int64), "name")
        return [name if is_known else None for name, is_known in zip(names, known.tolist(), strict=True)]

    def search_names(self, text: str, n: int) -> list[tuple[FoundName, Rows]]:
        """The names that contain each word of a normalised text, best first, and the rows with each."""
        names = search_names((chunk.column("name") for chunk in self._names.chunks()), text, n)
        return [(name, self._rows_of_name(name.position)) for name in names]

    def _rows_of_name(self, position: int) -> Rows:
        bounds = [*self._name_starts[position : position + 2].tolist(), len(self._name_rows)]
        return self._name_rows[bounds[0] : bounds[1]].astype(np.int64)

    def find_xrefs(self, keys: Sequence[str]) -> list[Rows]:
        """The rows that have each cross reference, ascending, by the keys of ``util.xrefs``."""
        hashes = hash_strings(keys)
        starts = np.searchsorted(self._xref_hashes, hashes, side="left")
        counts = np.searchsorted(self._xref_hashes, hashes, side="right") - starts
        offsets = offsets_of(counts)
        rows_of_keys: list[dict[int, None]] = [{} for _ in keys]
        queries = owners(offsets)
        rows = self._xref_rows[np.arange(len(queries)) - offsets[queries] + starts[queries]].astype(np.int64)
        xrefs_of_rows = self.cells_at(rows, "xrefs")[0]
        for query, row, xrefs in zip(queries.tolist(), rows.tolist(), xrefs_of_rows, strict=True):
            if keys[query] in map(xref_key, xrefs):  # hashes may collide
                rows_of_keys[query][row] = None
        return [np.array(list(rows_of_key), dtype=np.int64) for rows_of_key in rows_of_keys]

    def successors(self, ids: Sequence[str]) -> list[str | None]:
        """The successor noted for each id, if it was retired with one."""
        rows = self._redirects.find("old", ids, np.from_dlpack(self._redirects.chunk(0).column("hash")))
        return [None if row < 0 else self._redirects.cells(np.array([row]), "new")[0][0] for row in rows.tolist()]

    def redirects(self) -> dict[str, str]:
        """Retired ids and their successors."""
        columns = self._redirects.chunk(0).to_pydict()
        return dict(zip(columns["old"], columns["new"], strict=True))

    # --- by row

    def cells_at(self, rows: Rows, *fields: str) -> list[list[Any]]:
        """For each field of Entity, its values in these rows; several texts are a list."""
        cells = self._entities.cells(rows, *fields)
        if "types" in fields:
            names, at = self.type_names, fields.index("types")
            cells[at] = [[names[code] for code in codes] for codes in cells[at]]
        return cells

    def entities_at(self, rows: Rows) -> list[Entity]:
        return entities_of(self._entities.cells(rows, *FIELDS), self.type_names)

    def normalized_names_at(self, rows: Rows) -> tuple[list[str], Offsets]:
        """Names as they were normalised when the files were written, see ``KnowledgeBase.normalized_names_at``."""
        offsets = self._names_of_rows_offsets
        positions = take_pieces(self._names_of_rows, offsets, rows)
        (names,) = self._names.cells(positions.astype(np.int64), "name")
        return names, offsets_of(offsets[rows + 1] - offsets[rows])

    def items(self) -> Iterator[tuple[Entity, bool]]:
        """Every row in order, and whether it is live."""
        return zip(entities_in(self._entities, self.type_names), self.live.tolist(), strict=True)

    def is_a_pairs(self) -> tuple[Rows, list[str], Rows]:
        """The rows of children, the distinct ids of parents, and for each child which of these is its parent. A row
        with several parents occurs several times."""
        columns = [chunk.column("parents") for chunk in self._entities.chunks()]
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(column.offsets) for column in columns)])
        ids = pa.chunked_array([column.values for column in columns], type=pa.string()).combine_chunks()
        encoded = ids.dictionary_encode()
        return owners(offsets_of(lengths)), encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)

    def type_counts(self, counted: Mask) -> dict[str, int]:
        """How many of these rows have each type."""
        counts = np.zeros(len(self.type_names), dtype=np.int64)
        for start, chunk in self._chunks():
            offsets, codes = _offsets_and_values(chunk.column("types"))
            is_counted = counted[start : start + len(chunk)]
            counts += np.bincount(codes[np.repeat(is_counted, np.diff(offsets))], minlength=len(counts))
        return dict(zip(self.type_names, counts.tolist(), strict=True))

    def rows_with_types(self, types: Collection[str]) -> Mask:
        """By row; has any of these types, live or not."""
        is_wanted = np.array([name in types for name in self.type_names], dtype=bool)
        parts = [np.zeros(0, dtype=bool)]
        for _, chunk in self._chunks():
            offsets, codes = _offsets_and_values(chunk.column("types"))
            hits = np.append(0, np.cumsum(is_wanted[codes]))
            parts.append(hits[offsets[1:]] > hits[offsets[:-1]])
        return np.concatenate(parts)

    def _chunks(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The chunks of entities, and the first row of each."""
        return zip(self._entities.starts.tolist(), self._entities.chunks(), strict=False)


def _files(folder: Path) -> Iterator[Path]:
    """Those of a store that are there."""
    return filter(Path.is_file, (folder / name for name in (*FILES, *OPTIONAL_FILES)))


def _ascend(offsets: NDArray[np.integer[Any]], end: int) -> bool:
    return in_range(offsets, end + 1) and bool((offsets[1:] >= offsets[:-1]).all())


def _offsets_and_values(lists: pa.ListArray) -> tuple[NDArray[Any], NDArray[np.int32]]:
    return np.from_dlpack(lists.offsets), np.from_dlpack(lists.values)
