"""Source files read into a new knowledge base, or as changes to one: entities to add or replace, ids to retire."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..errors import Errors, PelError
from ..types import Entity, KBReader
from ..util.files import PathLike, Place
from .compare import did_you_mean_id
from .edits import State, Update
from .knowledge_base import KnowledgeBase
from .readers.reader_base import KBReaderBase
from .repair import merge_duplicates
from .sources import BUILT

_CUI = re.compile(r"C\d{7}")


def build_kb(
    reader: KBReader,
    paths: Sequence[Path],
    out: PathLike,
    *,
    about: Mapping[str, Any],
    below: Sequence[str] = (),
    show_progress: bool = False,
) -> KnowledgeBase:
    """Read source files into a knowledge base folder, and open it.

    Args:
        reader: streams the entities; its source, its redirects and its repairs are
            written to the folder too.
        paths: what the reader reads.
        out: the folder to write.
        about: JSON data for meta.json, e.g. the reader's name and settings.
        below: keep the entities with these ids, and all narrower ones; empty = all.
        show_progress: show a progress bar.

    Returns:
        Memory-mapped.

    Raises:
        PelError: if ``below`` names an unknown id, or no entity has a broader one.
    """
    if below:  # what is below is known only at the end of the files
        with TemporaryDirectory(prefix="spacy_pel_kb_") as folder:
            whole = build_kb(reader, paths, Path(folder) / "kb", about=about, show_progress=show_progress)
            kept, redirects = subtree(whole, below)
            source = {**whole.source, "below": list(below)}
            return KnowledgeBase.build(kept, out, source=source, redirects=redirects)
    redirects, source = {}, {}

    def entities() -> Iterator[Entity]:
        yield from reader(paths)
        # a reader knows these only at the end of its files
        redirects.update(reader.redirects)
        source.update({**reader.source, **about, "repairs": dict(reader.report)})

    return KnowledgeBase.build(entities(), out, source=source, redirects=redirects, show_progress=show_progress)


def subtree(kb: KnowledgeBase, ids: Sequence[str]) -> tuple[Iterator[Entity], dict[str, str]]:
    """Choose the entities with these ids, and all narrower ones (is-a).

    Args:
        kb: source; retired entities are left out.
        ids: of entities.

    Returns:
        The entities, in the order of the knowledge base, and the redirects to them.

    Raises:
        PelError: if an id is unknown, or no entity has a broader one.
    """
    for entity_id in ids:
        if entity_id not in kb:
            raise PelError(Errors.E145.format(id=entity_id, hint=did_you_mean_id(kb, entity_id)))
    if not kb.hierarchy:
        raise PelError(Errors.E146.format(ids=", ".join(ids)))
    mask = kb.rows_below(ids)
    redirects = kb.redirects()
    rows = kb.rows(list(redirects))
    lead_there = (rows >= 0) & mask[rows]
    kept = {old: new for (old, new), is_kept in zip(redirects.items(), lead_there, strict=True) if is_kept}
    return (entity for (entity, _), is_below in zip(kb.items(), mask, strict=True) if is_below), kept


@dataclass
class Changes:
    """The changes that files describe.

    Attributes:
        entities: to add, or to replace those with the same id.
        retired: ids that lines retire, with their successors if they have one.
        places: where these lines are, for errors.
        redirects: ids that are no longer used -> successors; those that the knowledge base
            lacks do not matter.
        obsolete: other ids that are no longer used -> ids that may replace them.
        repairs: repairs of what was read, by kind.
        id_prefix: what the ids that were read begin with.
        types: what was read has any of these; None = any.
        source: the record of what was read, for meta.json.
    """

    entities: list[Entity] = field(default_factory=list)
    retired: dict[str, str | None] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    obsolete: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repairs: dict[str, int] = field(default_factory=dict)
    id_prefix: str = ""
    types: Collection[str] | None = None
    source: dict[str, Any] = field(default_factory=dict)


def read_changes(reader: KBReader, paths: Sequence[Path], *, below: Sequence[str] = ()) -> Changes:
    """Read files of changes.

    Args:
        reader: any; with JsonlKB, a line is an entity, or ``{"concept_id": ..., "retired": true}``,
            the latter with ``"successor": ...`` if another entity replaces it.
            Its ``id_prefix`` chooses ids to retire, too, also those of redirects.
        paths: what it reads.
        below: of the entities read, keep those with these ids and all narrower ones; empty = all.

    Returns:
        In the order of the files.

    Raises:
        PelError: as the reader, and if ``below`` names an id that is not there.
    """
    if isinstance(reader, KBReaderBase):
        reader.notes_obsolete = True
    by_id: dict[str, list[Entity]] = {}
    for entity in reader(paths):
        by_id.setdefault(entity.concept_id, []).append(entity)
    entities = list(map(merge_duplicates, by_id.values()))
    if below:
        entities = list(subtree(KnowledgeBase(entities, redirects=reader.redirects), below)[0])
    known = ("redirects", "retired", "places", "obsolete", "id_prefix", "source")
    given = {name: getattr(reader, name) for name in known if hasattr(reader, name)}
    changes = Changes(entities, repairs=dict(reader.report), types=getattr(reader, "wanted_types", None), **given)
    for ids in (changes.retired, changes.redirects, changes.obsolete):
        for old in [old for old in ids if not old.startswith(changes.id_prefix)]:
            del ids[old]
    return changes


def apply_changes(
    kb: KnowledgeBase,
    changes: Changes,
    *,
    source: str = BUILT,
    retire_missing: bool = False,
    adds: bool = False,
    replaces: bool = False,
    as_edits: bool = False,
) -> Update:
    """Apply changes in memory; ``kb.to_disk`` saves them. Successors may be new entities.

    Args:
        source, adds, replaces, as_edits: see ``KnowledgeBase.release``.
        retire_missing: the changes are a whole release: what they do not name, the source does not have any more.

    Returns:
        What changed, and what did not.

    Raises:
        PelError: before anything is changed: if a line retires an id that is not live, or in favour of
            such an id; names the line. If more than half of the entities are missing and were to be retired.
    """
    given = {entity.concept_id for entity in changes.entities}
    _check_retired(kb, changes, given)
    retired, obsolete = _no_longer_used(kb, changes, given)
    missing, n_compared, n_others = _not_named(kb, changes, given, retired.keys(), source)
    if retire_missing and 2 * len(missing) > n_compared:
        raise PelError(Errors.E125.format(n=len(missing), total=n_compared, example=missing[0]))
    how = {"adds": adds, "replaces": replaces, "as_edits": as_edits}
    lacks = missing if retire_missing else ()
    update = kb.release(changes.entities, retired, source=source, lacks=lacks, **how)
    unreplaced = {old: obsolete.get(old, ()) for old in update.retired if retired.get(old) is None}
    return replace(update, obsolete=unreplaced, missing=missing, n_others=n_others)


def _check_retired(kb: KnowledgeBase, changes: Changes, given: set[str]) -> None:
    """Raises:
    PelError: if an id to retire, or a successor, is neither in the knowledge base nor given.
    """
    for entity_id, successor in changes.retired.items():
        checks = [("the id of an entity to retire", entity_id, _fault(kb, given, entity_id))]
        if successor is not None:
            fault = "which is retired, too" if successor in changes.retired else _fault(kb, given, successor)
            checks.append(("the id of an entity as the successor", successor, fault))
        for expected, id_, fault in checks:
            if fault:
                place = changes.places.get(entity_id, "the changes")
                raise PelError(Errors.E123.format(expected=expected, place=place, id=id_, fault=fault))


def _source_states(kb: KnowledgeBase, ids: Sequence[str]) -> list[State]:
    """What the source has for each id: the knowledge base without the edits."""
    pairs = zip(ids, kb.states(ids), strict=True)
    return [kb.edits[entity_id].release if entity_id in kb.edits else state for entity_id, state in pairs]


def _fault(kb: KnowledgeBase, given: set[str], entity_id: str) -> str:
    """Why an id cannot be retired or succeed another one; "" = it can."""
    successor = kb.resolve(entity_id)
    if entity_id in given or successor == entity_id or _source_states(kb, [entity_id])[0].live:
        return ""
    if successor is not None:
        return f"which is retired already (its successor is '{successor}')"
    return "which is retired already" if kb.is_retired(entity_id) else "which the knowledge base does not have"


def _no_longer_used(
    kb: KnowledgeBase, changes: Changes, given: set[str]
) -> tuple[dict[str, str | None], dict[str, tuple[str, ...]]]:
    """Ids to retire and their successors; of those without a successor, the
    ids that may replace them."""
    unused = {**changes.redirects, **changes.obsolete, **changes.retired}
    redirects = {old: new for old, new in changes.redirects.items() if old not in given}
    states = _source_states(kb, list(redirects.values()))
    replaced: dict[str, str | None] = {}
    obsolete = {old: ids for old, ids in changes.obsolete.items() if old not in given}
    for (old, new), state in zip(redirects.items(), states, strict=True):
        if new in given or (state.live and new not in unused):
            replaced[old] = new
        else:
            obsolete.setdefault(old, () if new == old else (new,))  # the same: a circle
    states = _source_states(kb, list(obsolete))
    obsolete = {old: obsolete[old] for old, state in zip(obsolete, states, strict=True) if state.live}
    return {**dict.fromkeys(obsolete), **replaced, **changes.retired}, obsolete


def _not_named(
    kb: KnowledgeBase, changes: Changes, given: set[str], retired: Collection[str], source: str
) -> tuple[list[str], int, int]:
    """The entities that a release would name, but the changes do not;
    of how many; and how many others there are, such as those that a curator added."""
    namespaces = set(map(_namespace, given))

    def is_compared(entity_id: str) -> bool:
        is_known = entity_id.startswith(changes.id_prefix) and _namespace(entity_id) in namespaces
        return is_known and kb.has_from(source, entity_id)

    rows = kb.live_rows if changes.types is None else np.flatnonzero(kb.rows_with_types(changes.types))
    in_source = {entity_id: edit.release.live for entity_id, edit in kb.edits.items()}
    live = [id_ for id_ in kb.ids_at(rows) if in_source.get(id_, True) and is_compared(id_)]
    hidden = [id_ for id_, is_live in in_source.items() if is_live and kb.is_retired(id_) and is_compared(id_)]
    missing = [entity_id for entity_id in (*live, *hidden) if entity_id not in given and entity_id not in retired]
    return missing, len(live) + len(hidden), len(kb) - len(live)


def _namespace(entity_id: str) -> str:
    """ "HP" of "HP:0000118", "UMLS" of a CUI; "" for others, such as "D003924" and "E11"."""
    if ":" in entity_id:
        return entity_id.partition(":")[0]
    return "UMLS" if _CUI.fullmatch(entity_id) else ""
