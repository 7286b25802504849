"""Writes the files of a knowledge base folder from a stream of entities."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import Warnings
from ..types import Entity
from ..util import hash_strings, logger, normalize_alias, write_json
from ..util.arrays import offsets_of, owners
from ..util.arrow_files import Table, TableWriter, write_arrays
from ..util.xrefs import xref_key
from .edits import FIELDS, Note, notes_to_bytes
from .repair import counts_text, merge_duplicates, repaired, repaired_redirects

KIND = "knowledge base"
FORMAT, VERSION = "spacy-pel-kb", 3
META, ENTITIES, IDS, REDIRECTS, TYPES = ("meta.json", "entities.arrow", "ids.arrow", "redirects.arrow", "types.arrow")
NAMES, NAME_HASHES, ROWS_OF_NAMES = "alias_names.arrow", "alias_hashes.arrow", "alias_rows.arrow"
NAMES_OF_ROWS, XREFS = "row_names.arrow", "xrefs.arrow"
FILES = (ENTITIES, IDS, REDIRECTS, TYPES, NAME_HASHES, NAMES, ROWS_OF_NAMES, NAMES_OF_ROWS, XREFS)
EDITS, ORIGINS = OPTIONAL_FILES = ("edits.jsonl", "origins.jsonl")  # each only if there are some
Ids = Mapping[str, str] | None  # by id
Source = Mapping[str, Any] | None  # JSON data
_CHUNK, _NAME_CHUNK = 1 << 15, 1 << 16
_TEXTS = pa.list_(pa.string())
# types are rows of types.arrow
_TYPES_OF_FIELDS = (pa.string(), pa.string(), _TEXTS, pa.list_(pa.int32()), pa.string(), _TEXTS, _TEXTS)
_SCHEMA = pa.schema([*zip(FIELDS, _TYPES_OF_FIELDS, strict=True), ("live", pa.bool_())])
_NAME_SCHEMA = pa.schema([("name", pa.string())])
_REDIRECT_SCHEMA = pa.schema([("hash", pa.uint64()), ("old", pa.string()), ("new", pa.string())])
_MODULUS = 1 << 128


# --- the content fingerprint, which small changes update without a full pass: the sum of one hash per row (its
# number, state and all fields) and per redirect. Equal content in equal rows gives an equal fingerprint, whether it
# was built at once, changed in memory, or saved and opened again.


def row_digest(row: int, entity: Entity, live: bool) -> int:
    """What a row adds to the sum."""
    counts = f"{row} {live} {len(entity.aliases)} {len(entity.types)}"
    fields = (counts, entity.concept_id, entity.canonical_name, *entity.aliases, *entity.types)
    links = (str(len(entity.xrefs)), *entity.xrefs, *entity.parents) if entity.xrefs or entity.parents else ()
    return _hash("\n".join((*fields, entity.definition or "", *links)))


def redirect_digest(old: str, new: str) -> int:
    """What a redirect adds to the sum."""
    return _hash(f"redirect\n{old}\n{new}")


def to_fingerprint(total: int) -> str:
    """32 hexadecimal digits."""
    return f"{total % _MODULUS:032x}"


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf8"), digest_size=16).digest(), "little")


def build_store(folder: Path, entities: Iterable[Entity], *, redirects: Ids, source: Source) -> int:
    """Repair entities, count the repairs, and write the entities to a folder, streaming.

    Entities of one id are merged. The first pass finds them by their hashes, so that no table of
    all ids is held in memory; a second pass, needed only then, writes the merged entities.

    Args:
        folder: empty.
        entities: read once.
        redirects: retired id -> successor; read after the entities, since
            readers are not complete before.
        source: JSON data; read after the entities.

    Returns:
        The number of rows.
    """
    report: Counter[str] = Counter()

    def count(kind: str, entity_id: str) -> None:
        report[kind] += 1

    writer = _written(folder, filter(None, (repaired(entity, count) for entity in entities)))
    if groups := _rows_of_same_ids(writer):
        first_pass = [file.rename(file.with_suffix(".first_pass")) for file in list(folder.iterdir())]
        writer = _written(folder, _merged(writer, groups))
        report["duplicate_id"] += sum(map(len, groups.values())) - len(groups)
        for file in first_pass:
            file.unlink()
    whole = repaired_redirects(redirects or {}, count)
    rows = writer.rows_of_ids(list(whole))
    # a live id resolves to itself
    useful = {old: new for (old, new), row in zip(whole.items(), rows, strict=True) if row < 0}
    writer.finish(useful, source or {}, report=report)
    of_reader = (source or {}).get("repairs", {})  # of the same entities
    if more := {kind: n for kind, n in report.items() if n != of_reader.get(kind)}:
        logger.warning(Warnings.W100.format(counts=counts_text(more)))
    return writer.n_rows


def _written(folder: Path, entities: Iterable[Entity]) -> "StoreWriter":
    writer = StoreWriter(folder)
    for entity in entities:
        writer.append(entity)
    writer.finish_entities()
    return writer


def _rows_of_same_ids(writer: "StoreWriter") -> dict[int, list[int]]:
    """First row -> all rows, of the ids that occur more than once."""
    hashes = writer.id_hashes[writer.order]
    is_repeated = np.diff(hashes) == 0
    if not is_repeated.any():
        return {}
    suspects = np.sort(writer.order[np.append(is_repeated, False) | np.append(False, is_repeated)])
    by_id: dict[str, list[int]] = {}
    for row, entity_id in zip(suspects.tolist(), writer.table.cells(suspects, "concept_id")[0], strict=True):
        by_id.setdefault(entity_id, []).append(row)
    return {rows[0]: rows for rows in by_id.values() if len(rows) > 1}


def _merged(first_pass: "StoreWriter", groups: dict[int, list[int]]) -> Iterator[Entity]:
    table, type_names = first_pass.table, first_pass.type_names
    later = {row for rows in groups.values() for row in rows[1:]}
    for row, entity in enumerate(entities_in(table, type_names)):
        if row in groups:
            yield merge_duplicates(entities_of(table.cells(np.array(groups[row]), *FIELDS), type_names))
        elif row not in later:
            yield entity


def entities_of(cells: Sequence[Sequence[Any]], type_names: Sequence[str]) -> list[Entity]:
    """From the cells of each field in entities.arrow."""
    entities = []
    for entity_id, name, aliases, types, definition, xrefs, parents in zip(*cells, strict=True):
        named = tuple(type_names[code] for code in types)
        entities.append(Entity(entity_id, name, tuple(aliases), named, definition, tuple(xrefs), tuple(parents)))
    return entities


def entities_in(table: Table, type_names: Sequence[str]) -> Iterator[Entity]:
    """Those in all rows of entities.arrow."""
    for chunk in table.chunks():
        yield from entities_of([chunk.column(field).to_pylist() for field in FIELDS], type_names)


class StoreWriter:
    """Appends entities, row by row, then sorts the look-up tables.

    Entities go to the disk in chunks; what stays in memory is a hash per id and per name. Names are appended to a
    spill file and, in the end, written in the order of their hashes.

    Args:
        folder: an existing, empty folder.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._entities = TableWriter(folder / ENTITIES, _SCHEMA, chunk=_CHUNK)
        self._spill = TableWriter(folder / "names.spill", _NAME_SCHEMA, chunk=_NAME_CHUNK)
        self._rows_of_names = array("i")
        self._types: dict[str, int] = {}
        self._counts = {"rows": 0, "entities": 0, "aliases": 0}
        self._total = 0  # of the digests

    @property
    def n_rows(self) -> int:
        return self._counts["rows"]

    @property
    def type_names(self) -> list[str]:
        return list(self._types)

    def append(self, entity: Entity, *, live: bool = True) -> None:
        """Write the next row.

        Args:
            entity: a whole entity, see ``repair.py``.
            live: False = a retired entity, which keeps its row but is found by no name.
        """
        row, name, aliases = self.n_rows, entity.canonical_name, entity.aliases
        types = [self._types.setdefault(kind, len(self._types)) for kind in entity.types]
        last = (entity.definition, entity.xrefs, entity.parents, live)
        self._entities.append(entity.concept_id, name, aliases, types, *last)
        for normalized in dict.fromkeys(map(normalize_alias, (name, *aliases) if live else ())):
            if normalized:
                self._spill.append(normalized)
                self._rows_of_names.append(row)
        self._total += row_digest(row, entity, live)
        self._counts["rows"] += 1
        self._counts["entities"] += live
        self._counts["aliases"] += live * len(aliases)

    def finish_entities(self) -> None:
        """Write the last chunk, open the table of the entities, and sort their ids."""
        self.table = self._entities.reopened()
        self.id_hashes = _hashes_of(chunk.column("concept_id") for chunk in self.table.chunks())
        self.order = np.argsort(self.id_hashes, kind="stable")

    def rows_of_ids(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """The row of each id; -1 = it has none."""
        return self.table.find("concept_id", ids, self.id_hashes[self.order], self.order)

    def finish(
        self,
        redirects: Mapping[str, str],
        source: Mapping[str, Any],
        *,
        report: Mapping[str, int],
        edits: Mapping[str, Note] = MappingProxyType({}),
        origins: Mapping[str, Note] = MappingProxyType({}),
    ) -> None:
        """Write the look-up tables and meta.json.

        Args:
            redirects: retired id -> its successor.
            source: origin, licence, reader settings: JSON data.
            report: repairs by kind.
            edits: of curators, by id.
            origins: of the entities that not the build alone gave, by id.
        """
        write_arrays(self.folder / IDS, {"hash": self.id_hashes[self.order], "row": self.order.astype(np.int32)})
        write_arrays(self.folder / TYPES, {"name": pa.array(self.type_names, type=pa.string())})
        old, new = list(redirects), list(redirects.values())
        self._total += sum(map(redirect_digest, old, new))
        hashes = hash_strings(old)
        order = np.argsort(hashes, kind="stable")
        columns = {"hash": hashes[order], "old": [old[i] for i in order], "new": [new[i] for i in order]}
        redirect_table = TableWriter(self.folder / REDIRECTS, _REDIRECT_SCHEMA)
        redirect_table.write(columns)
        redirect_table.close()
        self._write_names()
        write_arrays(self.folder / XREFS, _xref_arrays(self.table))
        for name, notes in ((EDITS, edits), (ORIGINS, origins)):
            if notes:
                (self.folder / name).write_bytes(notes_to_bytes(notes))
        counts = {**self._counts, "redirects": len(redirects), "edits": len(edits)}
        meta: dict[str, Any] = {"format": FORMAT, "version": VERSION, "fingerprint": to_fingerprint(self._total)}
        meta |= {"counts": counts, "source": dict(source), "report": dict(report)}
        write_json(self.folder / META, meta)

    def _write_names(self) -> None:
        """The normalised names, sorted by hash: from a name to its rows, and from a row to its names."""
        spill = self._spill.reopened()
        hashes = _hashes_of(chunk.column("name") for chunk in spill.chunks())
        order = np.argsort(hashes, kind="stable")  # stable: rows stay ascending within a name
        hashes, rows = hashes[order], np.frombuffer(self._rows_of_names, dtype=np.int32)[order]
        names = TableWriter(self.folder / NAMES, _NAME_SCHEMA)
        firsts = [np.zeros(0, dtype=np.int64)]  # where a new name begins
        for start, stop in _cuts(hashes):
            chunk = spill.take("name", order[start:stop])
            is_new = _differs_from_previous(chunk)
            same_hash = hashes[start + 1 : stop] == hashes[start : stop - 1]
            if (is_new[1:] & same_hash).any():  # two names share a hash: make equal names adjacent
                keys = zip(hashes[start:stop].tolist(), chunk.to_pylist(), range(stop - start), strict=True)
                resort = np.array([at for _, _, at in sorted(keys)])
                rows[start:stop], chunk = rows[start:stop][resort], chunk.take(pa.array(resort))
                is_new = _differs_from_previous(chunk)
            firsts.append(start + np.flatnonzero(is_new))
            names.write({"name": chunk.filter(pa.array(is_new))})
        names.close()
        starts = np.concatenate(firsts)
        counts = np.diff(np.append(starts, len(hashes))).astype(np.int32)
        numbers = np.int32 if len(hashes) < 1 << 31 else np.int64
        write_arrays(self.folder / NAME_HASHES, {"hash": hashes[starts], "start": starts.astype(numbers)})
        write_arrays(self.folder / ROWS_OF_NAMES, {"row": rows})
        name_of_pair = np.repeat(np.arange(len(starts), dtype=np.int32), counts)
        by_row = name_of_pair[np.argsort(rows, kind="stable")]
        offsets = offsets_of(np.bincount(rows, minlength=self.n_rows)).astype(np.int32)
        lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(by_row))
        write_arrays(self.folder / NAMES_OF_ROWS, {"names": lists})
        self._spill.path.unlink()


def _hashes_of(columns: Iterator[pa.StringArray]) -> NDArray[np.uint64]:
    """The hashes of the strings of all chunks, in order."""
    return np.concatenate([np.zeros(0, dtype=np.uint64), *(hash_strings(column.to_pylist()) for column in columns)])


def _cuts(hashes: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Pieces of about one chunk that do not split equal hashes."""
    start = 0
    while start < len(hashes):
        stop = min(start + _NAME_CHUNK, len(hashes))
        stop = int(np.searchsorted(hashes, hashes[stop - 1], side="right"))
        yield start, stop
        start = stop


def _differs_from_previous(names: pa.Array) -> NDArray[np.bool_]:
    same = pc.equal(names.slice(1), names.slice(0, len(names) - 1))
    return np.append(True, ~same.to_numpy(zero_copy_only=False))


def _xref_arrays(entities: Table) -> dict[str, NDArray[Any]]:
    """The hashes of the cross references of live entities, ascending, and the entities' rows."""
    hashes, rows = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.int32)]
    for start, chunk in zip(entities.starts.tolist(), entities.chunks(), strict=False):
        xrefs, live = chunk.column("xrefs"), chunk.column("live").to_numpy(zero_copy_only=False)
        slots = owners(xrefs.offsets.to_numpy())
        is_live = live[slots]
        hashes.append(hash_strings(list(map(xref_key, xrefs.values.filter(pa.array(is_live)).to_pylist()))))
        rows.append((start + slots[is_live]).astype(np.int32))
    hash_of_all = np.concatenate(hashes)
    order = np.argsort(hash_of_all, kind="stable")  # stable: rows stay ascending within a hash
    return {"hash": hash_of_all[order], "row": np.concatenate(rows)[order]}
