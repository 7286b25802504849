"""Reads the files of a knowledge base folder where they lie, without loading them."""

from functools import cached_property
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...types import Entity
from ...util import read_json
from .alias_map import AliasMap
from .arrow_files import Rows, Table, read_arrays
from .hash_search import find_strings
from .store_writer import ENTITIES, FILES, FORMAT, IDS, META, REDIRECTS, TYPES, VERSION

Mask = NDArray[np.bool_]
_KEYS = ("fingerprint", "counts", "source", "report", "files")


class ArrowStore:
    """The saved, unchanging part of a knowledge base; rows count from 0.

    meta (Dict[str, Any]): the contents of meta.json.
    buffers (Dict[str, Buffer]): the contents of the Arrow files by name, memory-mapped or not.
    path (Optional[Path]): the folder they come from, if they come from one.
    """

    def __init__(self, meta: Dict[str, Any], buffers: Dict[str, pa.Buffer], path: Optional[Path] = None):
        self.meta = meta
        self.buffers = buffers
        self.path = path
        where = path or "the given bytes"
        try:
            self._table = Table(buffers[ENTITIES])
            ids = read_arrays(buffers[IDS])
            self._redirects = Table(buffers[REDIRECTS])
            self._aliases = AliasMap(buffers)
            types = pa.ipc.open_file(buffers[TYPES]).get_batch(0)
        except (pa.ArrowException, OSError) as err:
            raise PelError(Errors.E103.format(path=where, came=f"its files are damaged: {err}")) from err
        self._id_hashes, self._id_rows = ids["hash"], ids["row"]
        self.type_names: List[str] = types.column("name").to_pylist()
        if not len(self._id_hashes) == len(self._table) == meta["counts"]["rows"]:
            raise PelError(Errors.E103.format(path=where, came="its files do not belong together"))

    @classmethod
    def open(cls, path: Union[str, Path]) -> "ArrowStore":
        """Memory-map a folder.

        RAISES (PelError): if it is missing, damaged or of another format version.
        """
        path = Path(path)
        if not (path / META).is_file():
            came = f"it has no {META}" if path.is_dir() else "there is none"
            raise PelError(Errors.E103.format(path=path, came=came))
        meta = check_meta(read_json(path / META), path)
        buffers = {}
        for name in FILES:
            file, size = path / name, meta["files"].get(name, -1)
            if not file.is_file():
                raise PelError(Errors.E103.format(path=path, came=f"the file {name} is missing"))
            if file.stat().st_size != size:
                came = f"the file {name} has {file.stat().st_size} bytes instead of {size}"
                raise PelError(Errors.E103.format(path=path, came=came))
            with pa.memory_map(str(file)) as source:
                buffers[name] = source.read_buffer()
        return cls(meta, buffers, path)

    @classmethod
    def read(cls, path: Union[str, Path]) -> "ArrowStore":
        """Read a folder into memory; it may be deleted then."""
        mapped = cls.open(path)
        return cls(
            mapped.meta, {name: pa.py_buffer(buffer.to_pybytes()) for name, buffer in mapped.buffers.items()}
        )

    def is_at(self, path: Path) -> bool:
        """RETURNS (bool): did this store come from that folder, and is it still there?"""
        if self.path is None or self.path.resolve() != path.resolve():
            return False
        return (path / META).is_file() and read_json(path / META) == self.meta

    @property
    def n_rows(self) -> int:
        return len(self._table)

    @cached_property
    def live(self) -> Mask:
        """RETURNS (NDArray[bool]): by row; False = retired."""
        parts = [chunk.column("live").to_numpy(zero_copy_only=False) for chunk in self._table.chunks()]
        return np.concatenate(parts).astype(bool) if parts else np.zeros(0, dtype=bool)

    def validate(self) -> None:
        """RAISES (PelError): if a file's contents are not what Arrow can read safely."""
        for name, buffer in self.buffers.items():
            try:
                for chunk in Table(buffer).chunks():
                    chunk.validate(full=True)
            except (pa.ArrowException, OSError) as err:
                raise PelError(Errors.E103.format(path=self.path, came=f"{name} is damaged: {err}")) from err

    def find_ids(self, ids: Sequence[str]) -> Rows:
        """RETURNS (NDArray[int64]): the row of each id, retired or not; -1 = unknown."""
        at = find_strings(ids, self._id_hashes, lambda at: self.ids_at(self._id_rows[at].astype(np.int64)))
        return np.where(at >= 0, self._id_rows[at], -1).astype(np.int64) if self.n_rows else at

    def find_names(self, names: Sequence[str]) -> List[Rows]:
        """RETURNS (List[NDArray[int64]]): the rows that have each normalised name, ascending."""
        return self._aliases.find(names)

    def redirect(self, old: str) -> Optional[str]:
        """RETURNS (Optional[str]): the successor noted for a retired id."""
        hashes = self._redirects.chunk(0).column("hash").to_numpy()
        at = find_strings([old], hashes, lambda at: self._redirects.texts("old", at))
        return None if at[0] < 0 else self._redirects.value("new", int(at[0]))

    def redirects(self) -> Dict[str, str]:
        """RETURNS (Dict[str, str]): all of them."""
        columns = self._redirects.chunk(0).to_pydict()
        return dict(zip(columns["old"], columns["new"], strict=True))

    def id_at(self, row: int) -> str:
        return self._table.value("concept_id", row)

    def ids_at(self, rows: Rows) -> List[str]:
        return self._table.texts("concept_id", rows)

    def name_at(self, row: int) -> str:
        return self._table.value("canonical_name", row)

    def names_at(self, rows: Rows) -> List[List[str]]:
        names = self._table.texts("canonical_name", rows)
        aliases = self._table.take("aliases", rows).to_pylist()
        return [[name, *others] for name, others in zip(names, aliases, strict=True)]

    def entity_at(self, row: int) -> Entity:
        return entity_of_record(self._table.record(row), self.type_names)

    def entities(self) -> Iterator[Tuple[Entity, bool]]:
        """YIELDS (Tuple[Entity, bool]): every row in order, and whether it is live."""
        for chunk in self._table.chunks():
            for record in chunk.to_pylist():
                yield entity_of_record(record, self.type_names), record["live"]

    def type_counts(self) -> NDArray[np.int64]:
        """RETURNS (NDArray[int64]): how many live rows have each of type_names."""
        counts = np.zeros(len(self.type_names), dtype=np.int64)
        for start, chunk in zip(self._table.starts, self._table.chunks(), strict=False):
            offsets, codes = _ragged(chunk.column("types"))
            live = self.live[start : start + chunk.num_rows]
            counts += np.bincount(codes[np.repeat(live, np.diff(offsets))], minlength=len(counts))
        return counts

    def rows_with_types(self, wanted: Mask) -> Mask:
        """RETURNS (NDArray[bool]): by row; has any of the types wanted[i] of type_names[i]."""
        parts = [np.zeros(0, dtype=bool)]
        for chunk in self._table.chunks():
            offsets, codes = _ragged(chunk.column("types"))
            hits = np.append(0, np.cumsum(wanted[codes]))
            parts.append(hits[offsets[1:]] > hits[offsets[:-1]])
        return np.concatenate(parts)


def check_meta(meta: Any, path: Union[str, Path]) -> Dict[str, Any]:
    """RAISES (PelError): if this is no meta.json of ours, or one of another version."""
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise PelError(Errors.E103.format(path=path, came=f"its {META} is of something else"))
    if meta.get("version") != VERSION:
        raise PelError(Errors.E106.format(path=path, expected=VERSION, came=meta.get("version")))
    if missing := [key for key in _KEYS if key not in meta]:
        raise PelError(Errors.E103.format(path=path, came=f"its {META} lacks {', '.join(missing)}"))
    return meta


def entity_of_record(record: Dict[str, Any], type_names: Sequence[str]) -> Entity:
    """RETURNS (Entity): the entity in a row of entities.arrow."""
    return Entity(
        concept_id=record["concept_id"],
        canonical_name=record["canonical_name"],
        aliases=tuple(record["aliases"]),
        types=tuple(type_names[kind] for kind in record["types"]),
        definition=record["definition"],
    )


def _ragged(column: pa.ListArray) -> Tuple[NDArray[np.int32], NDArray[np.int32]]:
    return column.offsets.to_numpy(), column.values.to_numpy()
