"""Changes to a knowledge base: entities to add or replace, and ids to retire."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Set, Union

from ..errors import Errors, PelError, quoted
from ..types import Entity, KBReader
from ..util.files import JSON_ERRORS
from .knowledge_base import KnowledgeBase
from .readers.jsonl_kb import JsonlKB
from .readers.reader_base import Place
from .readers.repair import merge_duplicates


@dataclass
class Changes:
    """The changes that files describe.

    entities (List[Entity]): to add, or to replace those with the same id.
    retired (Dict[str, Optional[str]]): ids to retire, with their successors if they have one.
    repairs (Dict[str, int]): repairs of the lines, by kind.
    places (Dict[str, Place]): where the ids to retire are, for errors.
    redirects (Dict[str, str]): ids that are no longer used -> successors; those that the knowledge base
        lacks do not matter.
    """

    entities: List[Entity] = field(default_factory=list)
    retired: Dict[str, Optional[str]] = field(default_factory=dict)
    repairs: Dict[str, int] = field(default_factory=dict)
    places: Dict[str, Place] = field(default_factory=dict)
    redirects: Dict[str, str] = field(default_factory=dict)


def read_changes(path: Union[str, Path], *, strict: bool = False) -> Changes:
    """Read a file of changes as JSON lines, see ``changes_from_reader``."""
    return changes_from_reader(JsonlKB(strict=strict), [Path(path)])


def changes_from_reader(reader: KBReader, paths: Sequence[Path]) -> Changes:
    """Read files of changes.

    reader (KBReader): any; with JsonlKB, a line is an entity, or ``{"concept_id": ..., "retired": true}``,
        the latter with ``"successor": ...`` if another entity replaces it.
        Its ``id_prefix`` chooses ids to retire, too, also those of redirects.
    paths (Sequence[Path]): what it reads.
    RETURNS (Changes): in the order of the lines.
    RAISES (PelError): if a line is neither, or an entity is there twice; names the line. If there is nothing
        to change.
    """
    if isinstance(reader, JsonlKB):
        return _from_lines(reader, paths)
    by_id: Dict[str, List[Entity]] = {}
    for entity in reader(paths):
        by_id.setdefault(entity.concept_id, []).append(entity)
    entities = [merge_duplicates(same) for same in by_id.values()]
    prefix = getattr(reader, "id_prefix", "")
    redirects = {old: new for old, new in reader.redirects.items() if old.startswith(prefix)}
    return Changes(entities, repairs=dict(reader.report), redirects=redirects)


def _from_lines(reader: JsonlKB, paths: Sequence[Path]) -> Changes:
    changes = Changes()
    first: Dict[str, Place] = {}
    reader.begin(paths)
    for path in paths:
        for place, line in reader.lines(path):
            if not line.strip():
                continue
            record = _record(line) if '"retired"' in line else {}
            if record.get("retired") is True:
                _retire(changes, reader, place, record, line)
                continue
            entity = reader.checked(place, reader.parse(place, line))
            if entity is None:
                continue
            if entity.concept_id in first:
                got = f"{quoted(entity.concept_id)} again (first at {first[entity.concept_id]})"
                reader.fail(place, expected="each id once", got=got, todo="Merge the two lines.")
            first[entity.concept_id] = place
            changes.entities.append(entity)
    reader.warn_of_left_out()
    if not changes.entities and not changes.retired:
        raise PelError(Errors.E124.format(paths=", ".join(map(str, paths))))
    changes.repairs = dict(reader.report)
    return changes


def _retire(changes: Changes, reader: JsonlKB, place: Place, record: Dict[str, Any], line: str) -> None:
    entity_id, successor = record.get("concept_id"), record.get("successor")
    if not isinstance(entity_id, str) or not isinstance(successor, (str, type(None))):
        reader.fail(
            place,
            expected='{"concept_id": "…", "retired": true, "successor": "…" or null}',
            got=quoted(line),
            todo="Fix the line.",
        )
    if entity_id.startswith(reader.id_prefix):
        changes.retired[entity_id] = successor
        changes.places[entity_id] = place


def _record(line: str) -> Dict[str, Any]:
    try:
        record = json.loads(line)
    except JSON_ERRORS:
        return {}  # the reader reports what is wrong with the line
    return record if isinstance(record, dict) else {}


def apply_changes(kb: KnowledgeBase, changes: Changes) -> Dict[str, int]:
    """Apply changes in memory; ``kb.to_disk`` saves them. Successors may be new entities.

    RETURNS (Dict[str, int]): numbers of entities "added", "updated" and "retired".
    RAISES (PelError): if an id to retire, or a successor, is not live, before anything is changed; names the
        line.
    """
    known = [kb.resolve(entity.concept_id) == entity.concept_id for entity in changes.entities]
    pairs = list(zip(changes.entities, known, strict=True))
    given = {entity.concept_id for entity in changes.entities}
    for entity_id, successor in changes.retired.items():
        place = changes.places.get(entity_id, Place(Path("the changes")))
        _check_live(kb, given, entity_id, place, "the id of an entity to retire")
        if successor is None:
            continue
        _check_live(kb, given, successor, place, "the id of an entity as the successor")
        if successor in changes.retired:
            expected, fault = "the id of an entity as the successor", "which is retired, too"
            raise PelError(Errors.E123.format(expected=expected, place=place, id=successor, fault=fault))
    replaced = {
        old: new
        for old, new in changes.redirects.items()
        if old not in given and kb.resolve(old) == old and (new in given or kb.resolve(new) == new)
    }
    added = kb.add(entity for entity, is_known in pairs if not is_known)
    updated = kb.update(entity for entity, is_known in pairs if is_known)
    successors = {old: new for old, new in changes.retired.items() if new is not None}
    retired = kb.retire([*changes.retired, *replaced], {**replaced, **successors})
    return {"added": len(added), "updated": len(updated), "retired": len(retired)}


def _check_live(kb: KnowledgeBase, given: Set[str], entity_id: str, place: Place, expected: str) -> None:
    """RAISES (PelError): if an id is neither in the knowledge base nor given."""
    successor = kb.resolve(entity_id)
    if entity_id in given or successor == entity_id:
        return
    fault = "which the knowledge base does not have"
    if successor is not None:
        fault = f"which is retired already (its successor is '{successor}')"
    raise PelError(Errors.E123.format(expected=expected, place=place, id=entity_id, fault=fault))
