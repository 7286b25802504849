"""Reads the files of a knowledge base folder in place, without loading them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...types import Entity, Rows
from ...util import hash_strings, read_json, write_json
from ...util.arrays import Offsets, offsets_of, owners, take_pieces
from ...util.arrow_files import Table, find_strings, read_arrays
from ...util.name_search import FoundName, search_names
from ...util.packing import Buffer, pack_files, unpack_files
from ...util.saved_folder import MANIFEST, check_folder, damaged
from ...util.xrefs import xref_key
from ..edits import Edit, edits_from_bytes
from .alias_writer import HASHES, NAMES, NAMES_OF_ROWS, ROWS
from .store_writer import EDITS, ENTITIES, FILES, IDS, KIND, META, REDIRECTS, TYPES, VERSION, XREFS

Mask = NDArray[np.bool_]
OPTIONAL_FIELDS = ("aliases", "types", "definition", "xrefs", "parents")
_FIELDS = ("concept_id", "canonical_name", *OPTIONAL_FIELDS)
_OPTIONAL_FILES = (EDITS, XREFS)
_NONE = np.zeros(0, dtype=np.uint64)


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
            raise self.damaged(missing[0], "none")
        try:
            self._entities = Table(buffers[ENTITIES])
            self._redirects = Table(buffers[REDIRECTS])
            self._names = Table(buffers[NAMES])
            ids, names = read_arrays(buffers[IDS]), read_arrays(buffers[HASHES])
            xrefs = read_arrays(buffers[XREFS]) if XREFS in buffers else {"hash": _NONE, "row": _NONE}
            self._name_rows = read_arrays(buffers[ROWS])["row"]
            names_of_rows = Table(buffers[NAMES_OF_ROWS]).chunk(0).column("names")
            self.type_names: list[str] = Table(buffers[TYPES]).chunk(0).column("name").to_pylist()
        except (pa.ArrowException, OSError) as err:
            raise self.damaged("Arrow files", f"damaged ones ({err})") from err
        self._id_hashes, self._id_rows = ids["hash"], ids["row"]
        self._xref_hashes, self._xref_rows = xrefs["hash"], xrefs["row"]
        # of each distinct name: its hash, ascending; where its rows start, and how many rows have it
        self._name_hashes, self._name_starts, self._name_counts = names["hash"], names["start"], names["count"]
        self._names_of_rows, self._names_of_rows_offsets = (
            part.to_numpy() for part in (names_of_rows.values, names_of_rows.offsets)
        )
        if not len(self._id_hashes) == self.n_rows == meta["counts"]["rows"]:
            raise self.damaged("files with the same number of rows", "different numbers")

    @classmethod
    def open(cls, path: str | Path) -> "ArrowStore":
        """Memory-map a folder.

        Raises:
            PelError: if it is missing, damaged or of another format version.
        """
        path = Path(path)
        check_folder(path, kind=KIND, version=VERSION)
        buffers = {}
        for name in (*FILES, *_OPTIONAL_FILES):
            if (path / name).is_file():
                with pa.memory_map(str(path / name)) as source:
                    buffers[name] = source.read_buffer()
        return cls(read_json(path / META), buffers, path)

    @classmethod
    def read(cls, folder: Path) -> "ArrowStore":
        """Load the files that a StoreWriter has just written into memory."""
        files = [folder / name for name in (*FILES, *_OPTIONAL_FILES) if (folder / name).is_file()]
        return cls(read_json(folder / META), {file.name: pa.py_buffer(file.read_bytes()) for file in files})

    @classmethod
    def from_bytes(cls, data: Buffer) -> "ArrowStore":
        """A view of what ``to_bytes`` returned.

        Raises:
            PelError: for other bytes.
        """
        files = unpack_files(data, kind=KIND)
        try:
            meta = json.loads(bytes(files.pop(META)))
            version = meta["version"]
        except (ValueError, KeyError, TypeError) as err:
            raise damaged("the given bytes", KIND, f"{META} with a version", "another file or none") from err
        if version != VERSION:
            text = Errors.E005.format(kind=KIND, path="the given bytes", expected=VERSION, got=version)
            raise PelError(text)
        return cls(meta, {name: pa.py_buffer(content) for name, content in files.items()})

    def to_bytes(self) -> bytes:
        """Pack all files.

        Raises:
            PelError: if they are over 2 GiB.
        """
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
        is_whole = (path / MANIFEST).is_file() and (path / META).is_file()
        return is_whole and read_json(path / META) == self.meta

    def damaged(self, expected: str, got: str) -> PelError:
        """The error for content that cannot be read."""
        return damaged(self.path or "the given bytes", KIND, expected, got)

    def validate(self) -> None:
        """Check the files in full, which opening does not.

        Raises:
            PelError: if a file's contents are not what Arrow can read safely.
        """
        self.edits  # noqa: B018
        for name in (*FILES, *({XREFS} & self.buffers.keys())):
            try:
                for chunk in Table(self.buffers[name]).chunks():
                    chunk.validate(full=True)
            except (pa.ArrowException, OSError) as err:
                raise self.damaged(f"a readable {name}", f"a damaged one ({err})") from err

    @property
    def n_rows(self) -> int:
        return len(self._entities)

    @cached_property
    def live(self) -> Mask:
        """By row; False = retired."""
        parts = [chunk.column("live").to_numpy(zero_copy_only=False) for chunk in self._entities.chunks()]
        return np.concatenate(parts).astype(bool) if parts else np.zeros(0, dtype=bool)

    @cached_property
    def edits(self) -> dict[str, Edit]:
        """Curators' edits by id.

        Raises:
            PelError: if the file is damaged.
        """
        if EDITS not in self.buffers:
            return {}
        try:
            return edits_from_bytes(self.buffers[EDITS])
        except (ValueError, KeyError, TypeError, AttributeError) as err:
            raise self.damaged(f"edits in {EDITS}", f"an error ({err})") from err

    # --- by id and by name

    def find_ids(self, ids: Sequence[str]) -> Rows:
        """The row of each id, retired or not; -1 = unknown."""
        at = find_strings(ids, self._id_hashes, lambda at: self.ids_at(self._id_rows[at].astype(np.int64)))
        return np.where(at >= 0, self._id_rows[at], -1).astype(np.int64) if self.n_rows else at

    def find_names(self, names: Sequence[str]) -> list[Rows]:
        """The rows that have each normalised name, ascending."""
        found = [np.zeros(0, dtype=np.int64)] * len(names)
        positions = find_strings(names, self._name_hashes, partial(self._names.texts, "name"))
        for i in np.flatnonzero(positions >= 0).tolist():
            found[i] = self._rows_of_name(positions[i])
        return found

    def search_names(self, text: str, n: int) -> list[tuple[FoundName, Rows]]:
        """The names that contain each word of a normalised text, best first, and the rows with each."""
        found = search_names((chunk.column("name") for chunk in self._names.chunks()), text, n)
        return [(name, self._rows_of_name(name.position)) for name in found]

    def _rows_of_name(self, position: int) -> Rows:
        start = int(self._name_starts[position])
        return self._name_rows[start : start + int(self._name_counts[position])].astype(np.int64)

    def find_xrefs(self, keys: Sequence[str]) -> list[Rows]:
        """The rows that have each cross reference, ascending, by the keys of ``util.xrefs``."""
        hashes = hash_strings(keys)
        starts = np.searchsorted(self._xref_hashes, hashes, side="left")
        counts = np.searchsorted(self._xref_hashes, hashes, side="right") - starts
        offsets = offsets_of(counts)
        found: list[dict[int, None]] = [{} for _ in keys]
        queries = owners(offsets)
        rows = self._xref_rows[np.arange(len(queries)) - offsets[queries] + starts[queries]].astype(np.int64)
        for query, row, xrefs in zip(queries.tolist(), rows.tolist(), self.xrefs_at(rows), strict=True):
            if keys[query] in map(xref_key, xrefs):  # hashes may collide
                found[query][row] = None
        return [np.array(list(rows_of_key), dtype=np.int64) for rows_of_key in found]

    def successors(self, ids: Sequence[str]) -> list[str | None]:
        """The successor noted for each id, if it was retired with one."""
        hashes = self._redirects.chunk(0).column("hash").to_numpy()
        at = find_strings(ids, hashes, lambda at: self._redirects.texts("old", at))
        return [None if row < 0 else self._redirects.value("new", row) for row in at.tolist()]

    def redirects(self) -> dict[str, str]:
        """Retired ids and their successors."""
        columns = self._redirects.chunk(0).to_pydict()
        return dict(zip(columns["old"], columns["new"], strict=True))

    # --- by row

    def ids_at(self, rows: Rows) -> list[str]:
        return self._entities.texts("concept_id", rows)

    def names_at(self, rows: Rows) -> list[list[str]]:
        """Canonical name and aliases of each row."""
        names = self._entities.texts("canonical_name", rows)
        aliases = self._entities.take("aliases", rows).to_pylist()
        return [[name, *others] for name, others in zip(names, aliases, strict=True)]

    def types_at(self, rows: Rows) -> list[list[str]]:
        names = self.type_names
        return [[names[code] for code in codes] for codes in self._entities.take("types", rows).to_pylist()]

    def xrefs_at(self, rows: Rows) -> list[list[str]]:
        xrefs: list[list[str]] = self._entities.take("xrefs", rows).to_pylist()
        return xrefs

    def normalized_names_at(self, rows: Rows) -> tuple[list[str], Offsets]:
        """Names as they were normalised when the files were written, see ``KnowledgeBase.normalized_names_at``."""
        offsets = self._names_of_rows_offsets
        positions = take_pieces(self._names_of_rows, offsets, rows)
        names = self._names.texts("name", positions.astype(np.int64))
        return names, offsets_of(offsets[rows + 1] - offsets[rows])

    def entities_at(self, rows: Rows) -> list[Entity]:
        if len(rows) == 1:
            return list(entities_of([self._entities.record(int(rows[0]))], self.type_names))
        columns = [self._entities.take(name, rows).to_pylist() for name in _FIELDS]
        records = (dict(zip(_FIELDS, cells, strict=True)) for cells in zip(*columns, strict=True))
        return list(entities_of(records, self.type_names))

    def items(self) -> Iterator[tuple[Entity, bool]]:
        """Every row in order, and whether it is live."""
        entities = (
            entity for chunk in self._entities.chunks() for entity in entities_of(chunk.to_pylist(), self.type_names)
        )
        return zip(entities, self.live.tolist(), strict=True)

    def is_a_pairs(self) -> tuple[Rows, list[str], Rows]:
        """The rows of children, the distinct ids of parents, and for each child which of these is its parent. A row
        with several parents occurs several times."""
        columns = [chunk.column("parents") for chunk in self._entities.chunks()]
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(np.diff(column.offsets) for column in columns)])
        ids = pa.chunked_array([column.values for column in columns], type=pa.string()).combine_chunks()
        encoded = ids.dictionary_encode()
        return owners(offsets_of(lengths)), encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)

    def type_counts(self) -> dict[str, int]:
        """How many live rows have each type."""
        counts = np.zeros(len(self.type_names), dtype=np.int64)
        for start, offsets, codes in self._types_by_chunk():
            live = self.live[start : start + len(offsets) - 1]
            counts += np.bincount(codes[np.repeat(live, np.diff(offsets))], minlength=len(counts))
        return dict(zip(self.type_names, counts.tolist(), strict=True))

    def field_counts(self) -> dict[str, int]:
        """How many live rows have something in each field that may be empty."""
        counts = dict.fromkeys(OPTIONAL_FIELDS, 0)
        for start, chunk in zip(self._entities.starts.tolist(), self._entities.chunks(), strict=False):
            live = self.live[start : start + len(chunk)]
            for name in counts:
                column = chunk.column(name)
                lengths = pc.binary_length(column) if name == "definition" else pc.list_value_length(column)
                counts[name] += int((lengths.fill_null(0).to_numpy(zero_copy_only=False)[live] > 0).sum())
        return counts

    def rows_with_types(self, types: frozenset[str]) -> Mask:
        """By row; has any of these types, live or not."""
        wanted = np.array([name in types for name in self.type_names], dtype=bool)
        parts = [np.zeros(0, dtype=bool)]
        for _, offsets, codes in self._types_by_chunk():
            hits = np.append(0, np.cumsum(wanted[codes]))
            parts.append(hits[offsets[1:]] > hits[offsets[:-1]])
        return np.concatenate(parts)

    def _types_by_chunk(self) -> Iterator[tuple[int, NDArray[np.int32], NDArray[np.int32]]]:
        """The first row of a chunk, and the type codes of its rows with their offsets."""
        for start, chunk in zip(self._entities.starts.tolist(), self._entities.chunks(), strict=False):
            column = chunk.column("types")
            yield start, column.offsets.to_numpy(), column.values.to_numpy()


def entities_of(records: Iterable[dict[str, Any]], type_names: Sequence[str]) -> Iterator[Entity]:
    """The entities in rows of entities.arrow."""
    for record in records:
        types = tuple(type_names[code] for code in record["types"])
        aliases, definition = tuple(record["aliases"]), record["definition"]
        xrefs, parents = tuple(record["xrefs"]), tuple(record["parents"])
        yield Entity(record["concept_id"], record["canonical_name"], aliases, types, definition, xrefs, parents)
