"""Building the files of a knowledge base from a stream of entities."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import Warnings
from ..types import Entity
from ..util import logger
from .readers.repair import Repairs, counts_text, merge_duplicates, repaired_redirects
from .store.arrow_files import Table, find_strings
from .store.arrow_store import entity_of_record
from .store.store_writer import ENTITIES, StoreWriter


def build_store(
    folder: Path,
    entities: Iterable[Entity],
    *,
    redirects: Mapping[str, str] | None,
    source: Mapping[str, Any] | None,
    strict: bool,
) -> int:
    """Check entities and write them to a folder, streaming.

    Entities of one id are merged. The first pass finds them by their hashes, so that no table of
    all ids is held in memory; a second pass, needed only then, writes the merged entities.

    Args:
        folder: empty.
        entities: read once.
        redirects: retired id -> successor; read after the entities, since
            readers are not complete before.
        source: JSON data; read after the entities.
        strict: faults are errors; otherwise they are repaired and counted.

    Returns:
        The number of rows.
    """
    repairs, writer = Repairs(strict=strict), StoreWriter(folder)
    for entity in entities:
        checked = repairs(entity)
        if checked is not None:
            writer.append(checked)
    hashes = writer.finish_entities()
    with pa.memory_map(str(folder / ENTITIES)) as file:
        table = Table(file.read_buffer())
    groups = _same_ids(table, hashes)
    if groups:
        second = folder / "second"
        second.mkdir()
        merged = StoreWriter(second)
        for entity in _merged(table, writer.type_names, groups, repairs):
            merged.append(entity)
        writer, hashes = merged, merged.finish_entities()
        with pa.memory_map(str(second / ENTITIES)) as file:
            table = Table(file.read_buffer())
    useful = _useful(repaired_redirects(redirects or {}, repairs.count), table, hashes)
    writer.finish(hashes, redirects=useful, source=source or {}, report=repairs.report)
    if groups:
        _move_up(second, folder)
    reported = (source or {}).get("repairs", {})  # by a reader, of the same entities
    if more := {kind: n for kind, n in repairs.report.items() if n != reported.get(kind)}:
        logger.warning(Warnings.W100.format(counts=counts_text(more)))
    return writer.n_rows


def _same_ids(table: Table, hashes: NDArray[np.uint64]) -> dict[int, list[int]]:
    # first row -> all rows, of the ids that occur more than once
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order][1:] == hashes[order][:-1]
    if not equal.any():
        return {}
    suspects = np.sort(order[np.append(equal, False) | np.append(False, equal)])
    by_id: dict[str, list[int]] = {}
    for row, entity_id in zip(suspects.tolist(), table.texts("concept_id", suspects), strict=True):
        by_id.setdefault(entity_id, []).append(row)
    return {rows[0]: rows for rows in by_id.values() if len(rows) > 1}


def _merged(table: Table, type_names: list[str], groups: dict[int, list[int]], repairs: Repairs) -> Iterator[Entity]:
    later = {row for rows in groups.values() for row in rows[1:]}
    row = 0
    for chunk in table.chunks():
        for record in chunk.to_pylist():
            if row in groups:
                records = [table.record(same) for same in groups[row]]
                for _ in records[1:]:
                    repairs.count("duplicate_id", record["concept_id"])
                yield merge_duplicates([entity_of_record(same, type_names) for same in records])
            elif row not in later:
                yield entity_of_record(record, type_names)
            row += 1


def _useful(redirects: Mapping[str, str], table: Table, hashes: NDArray[np.uint64]) -> dict[str, str]:
    # a live id resolves to itself
    order = np.argsort(hashes, kind="stable")
    old = list(redirects)
    rows = find_strings(old, hashes[order], lambda at: table.texts("concept_id", order[at]))
    return {entity_id: redirects[entity_id] for entity_id, row in zip(old, rows, strict=True) if row < 0}


def _move_up(source: Path, folder: Path) -> None:
    for leftover in folder.glob("*.*"):
        leftover.unlink()
    for file in source.iterdir():
        os.replace(file, folder / file.name)
    source.rmdir()
