"""Writes the files of a knowledge base folder from a stream of entities."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ...types import Entity
from ...util import hash_strings, write_json
from ...util.arrays import owners
from ...util.arrow_files import Table, TableWriter, write_arrays
from ...util.xrefs import xref_key
from ..edits import Edit, edits_to_bytes
from .alias_writer import HASHES, NAMES, NAMES_OF_ROWS, ROWS, AliasWriter, hashes_of
from .digest import redirect_digest, row_digest, to_fingerprint

KIND = "knowledge base"
FORMAT, VERSION = "spacy-pel-kb", 3
META, ENTITIES, IDS, REDIRECTS, TYPES = ("meta.json", "entities.arrow", "ids.arrow", "redirects.arrow", "types.arrow")
FILES = (ENTITIES, IDS, REDIRECTS, TYPES, HASHES, NAMES, ROWS, NAMES_OF_ROWS)
EDITS, XREFS = "edits.jsonl", "xrefs.arrow"  # each only if there are some
Counts = Mapping[str, int]
_CHUNK = 1 << 15
_NAMES = [("concept_id", pa.string()), ("canonical_name", pa.string()), ("aliases", pa.list_(pa.string()))]
# types are rows of types.arrow
_OTHERS = [
    *(("types", pa.list_(pa.int32())), ("definition", pa.string())),
    *(("xrefs", pa.list_(pa.string())), ("parents", pa.list_(pa.string())), ("live", pa.bool_())),
]
_SCHEMA = pa.schema([*_NAMES, *_OTHERS])
_REDIRECT_SCHEMA = pa.schema([("hash", pa.uint64()), ("old", pa.string()), ("new", pa.string())])


class StoreWriter:
    """Appends entities, row by row, then sorts the look-up tables.

    Entities go to the disk in chunks; what stays in memory is a hash per id and per name.

    Args:
        folder: an existing, empty folder.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._entities = TableWriter(folder / ENTITIES, _SCHEMA, chunk=_CHUNK)
        self._aliases = AliasWriter(folder)
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
            entity: a checked entity (see Repairs).
            live: False = a retired entity, which keeps its row but is found by no name.
        """
        row, name, aliases = self.n_rows, entity.canonical_name, entity.aliases
        types = [self._types.setdefault(kind, len(self._types)) for kind in entity.types]
        others = (entity.definition, entity.xrefs, entity.parents, live)
        self._entities.append(entity.concept_id, name, aliases, types, *others)
        if live:
            self._aliases.add(row, (name, *aliases))
        self._total += row_digest(row, entity, live)
        self._counts["rows"] += 1
        self._counts["entities"] += live
        self._counts["aliases"] += live * len(aliases)

    def finish_entities(self) -> None:
        """Write the last chunk, and open the table of the entities."""
        self.table = self._entities.reopened()
        self.id_hashes = hashes_of(chunk.column("concept_id") for chunk in self.table.chunks())

    def finish(
        self, redirects: Mapping[str, str], source: Mapping[str, Any], *, report: Counts, edits: Mapping[str, Edit]
    ) -> None:
        """Write the look-up tables and meta.json.

        Args:
            redirects: retired id -> its successor.
            source: origin, licence, reader settings: JSON data.
            report: repairs by kind.
            edits: of curators, by id.
        """
        order = np.argsort(self.id_hashes, kind="stable")
        write_arrays(self.folder / IDS, {"hash": self.id_hashes[order], "row": order.astype(np.int32)})
        write_arrays(self.folder / TYPES, {"name": pa.array(self.type_names, type=pa.string())})
        old, new = list(redirects), list(redirects.values())
        self._total += sum(map(redirect_digest, old, new))
        hashes = hash_strings(old)
        order = np.argsort(hashes, kind="stable")
        columns = {"hash": hashes[order], "old": [old[i] for i in order], "new": [new[i] for i in order]}
        redirect_table = TableWriter(self.folder / REDIRECTS, _REDIRECT_SCHEMA)
        redirect_table.write(columns)
        redirect_table.close()
        self._aliases.finish(self.n_rows)
        if len((xrefs := _xref_arrays(self.table))["row"]):
            write_arrays(self.folder / XREFS, xrefs)
        if edits:
            (self.folder / EDITS).write_bytes(edits_to_bytes(edits))
        counts = {**self._counts, "redirects": len(redirects), "edits": len(edits)}
        meta: dict[str, Any] = {"format": FORMAT, "version": VERSION, "fingerprint": to_fingerprint(self._total)}
        meta |= {"counts": counts, "source": dict(source), "report": dict(report)}
        write_json(self.folder / META, meta)


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
