"""Changes to a knowledge base as JSON lines: entities to add or replace, and ids to retire."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Union

from ..errors import Errors, PelError, quoted
from ..types import Entity
from ..util.files import JSON_ERRORS
from .knowledge_base import KnowledgeBase
from .readers.jsonl_kb import JsonlKB


@dataclass
class Changes:
    """The changes that a file describes.

    entities (List[Entity]): to add, or to replace those with the same id.
    retired (Dict[str, Optional[str]]): ids to retire, with their successors if they have one.
    repairs (Dict[str, int]): repairs of the lines, by kind.
    path (Optional[Path]): the file, for errors.
    """

    entities: List[Entity] = field(default_factory=list)
    retired: Dict[str, Optional[str]] = field(default_factory=dict)
    repairs: Dict[str, int] = field(default_factory=dict)
    path: Optional[Path] = None


def read_changes(path: Union[str, Path], *, strict: bool = False) -> Changes:
    """Read a file of changes.

    A line is an entity in the interchange format, or ``{"concept_id": ..., "retired": true}``,
    the latter with ``"successor": ...`` if another entity replaces it.

    path (Union[str, Path]): JSON lines, plain or gzipped.
    strict (bool): repairs are errors.
    RETURNS (Changes): in the order of the lines.
    RAISES (PelError): if a line is neither, or an entity is there twice; names the line.
    """
    reader, changes = JsonlKB(strict=strict), Changes(path=Path(path))
    seen: Set[str] = set()
    for position, line in reader.lines(Path(path)):
        if not line.strip():
            continue
        record = _record(line) if '"retired"' in line else {}
        if record.get("retired") is not True:
            entity = reader.parse(position, line)
            if entity.concept_id in seen:
                got = quoted(entity.concept_id) + " again"
                reader.fail(position, expected="each id once", got=got, todo="Merge the two lines.")
            seen.add(entity.concept_id)
            changes.entities.append(entity)
            continue
        entity_id, successor = record.get("concept_id"), record.get("successor")
        if not isinstance(entity_id, str) or not isinstance(successor, (str, type(None))):
            reader.fail(
                position,
                expected='{"concept_id": "…", "retired": true, "successor": "…" or null}',
                got=quoted(line),
                todo="Fix the line.",
            )
        changes.retired[entity_id] = successor
    changes.repairs = reader.report
    return changes


def _record(line: str) -> Dict[str, Any]:
    try:
        record = json.loads(line)
    except JSON_ERRORS:
        return {}  # the reader reports what is wrong with the line
    return record if isinstance(record, dict) else {}


def apply_changes(kb: KnowledgeBase, changes: Changes) -> Dict[str, int]:
    """Apply changes in memory; ``kb.to_disk`` saves them. Successors may be new entities.

    RETURNS (Dict[str, int]): numbers of entities "added", "updated" and "retired".
    RAISES (PelError): if an id to retire, or a successor, is not live; names the file.
    """
    if changes.path is None:
        return _applied(kb, changes)
    try:
        return _applied(kb, changes)
    except PelError as err:
        raise PelError(Errors.E123.format(path=changes.path, fault=err)) from err


def _applied(kb: KnowledgeBase, changes: Changes) -> Dict[str, int]:
    known = [kb.resolve(entity.concept_id) == entity.concept_id for entity in changes.entities]
    pairs = list(zip(changes.entities, known, strict=True))
    added = kb.add(entity for entity, is_known in pairs if not is_known)
    updated = kb.update(entity for entity, is_known in pairs if is_known)
    successors = {old: new for old, new in changes.retired.items() if new is not None}
    retired = kb.retire(changes.retired, successors)
    return {"added": len(added), "updated": len(updated), "retired": len(retired)}
