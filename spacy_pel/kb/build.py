"""Building the files of a knowledge base from a stream of entities."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Warnings
from ..types import Entity
from ..util import logger
from ..util.arrow_files import find_strings
from .readers.repair import Repairs, counts_text, merge_duplicates, repaired_redirects
from .store.arrow_store import entities_of
from .store.store_writer import StoreWriter

Ids = Mapping[str, str] | None  # by id
Source = Mapping[str, Any] | None  # JSON data


def build_store(folder: Path, entities: Iterable[Entity], *, redirects: Ids, source: Source, strict: bool) -> int:
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
    repairs = Repairs(strict=strict)
    writer = _written(folder, filter(None, map(repairs, entities)))
    if groups := _same_ids(writer):
        first_pass = [file.rename(file.with_suffix(".first_pass")) for file in list(folder.iterdir())]
        writer = _written(folder, _merged(writer, groups, repairs))
        for file in first_pass:
            file.unlink()
    useful = _useful(repaired_redirects(redirects or {}, repairs.count), writer)
    writer.finish(useful, source or {}, report=repairs.report, edits={})
    reported = (source or {}).get("repairs", {})  # by a reader, of the same entities
    if more := {kind: n for kind, n in repairs.report.items() if n != reported.get(kind)}:
        logger.warning(Warnings.W100.format(counts=counts_text(more)))
    return writer.n_rows


def _written(folder: Path, entities: Iterable[Entity]) -> StoreWriter:
    writer = StoreWriter(folder)
    for entity in entities:
        writer.append(entity)
    writer.finish_entities()
    return writer


def _same_ids(writer: StoreWriter) -> dict[int, list[int]]:
    """First row -> all rows, of the ids that occur more than once."""
    order = np.argsort(writer.id_hashes, kind="stable")
    equal = np.diff(writer.id_hashes[order]) == 0
    suspects = np.sort(order[np.append(equal, False) | np.append(False, equal)]) if equal.any() else order[:0]
    by_id: dict[str, list[int]] = {}
    for row, entity_id in zip(suspects.tolist(), writer.table.texts("concept_id", suspects), strict=True):
        by_id.setdefault(entity_id, []).append(row)
    return {rows[0]: rows for rows in by_id.values() if len(rows) > 1}


def _merged(first_pass: StoreWriter, groups: dict[int, list[int]], repairs: Repairs) -> Iterator[Entity]:
    table, type_names = first_pass.table, first_pass.type_names
    later = {row for rows in groups.values() for row in rows[1:]}
    records = (record for chunk in table.chunks() for record in chunk.to_pylist())
    for row, entity in enumerate(entities_of(records, type_names)):
        if row in groups:
            for _ in groups[row][1:]:
                repairs.count("duplicate_id", entity.concept_id)
            yield merge_duplicates(list(entities_of(map(table.record, groups[row]), type_names)))
        elif row not in later:
            yield entity


def _useful(redirects: Mapping[str, str], writer: StoreWriter) -> dict[str, str]:
    """The redirects of ids that are not live: a live id resolves to itself."""
    order = np.argsort(writer.id_hashes, kind="stable")
    old = list(redirects)
    rows = find_strings(old, writer.id_hashes[order], lambda at: writer.table.texts("concept_id", order[at]))
    return {entity_id: redirects[entity_id] for entity_id, row in zip(old, rows, strict=True) if row < 0}
