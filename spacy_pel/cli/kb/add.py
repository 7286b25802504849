"""The command ``kb add``: add, replace and retire entities of a knowledge base."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...types import NIL
from .._app import kb_cli
from .._kb import reader_of_all
from .._output import JSON, counted, emit, key_values
from ._changed import changed_kb
from ._source import READERS, IdPrefix, Languages, Settings, Sources, Strict, Types, kb_source

if TYPE_CHECKING:
    from ...kb import KnowledgeBase
    from ...kb.changes import Update

_N_LISTED = 20  # ids of each kind in the result


@kb_cli.command("add")
def kb_add(
    kb: Annotated[
        Path, typer.Argument(metavar="KB", help="The KB folder to change, or a pipeline folder: its KB and its index.")
    ],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="JSON lines, a table, or what another reader of `kb build` reads."),
    ],
    reader: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"The format; default: by the file's name. One of {READERS}")
    ] = None,
    types: Types = None,
    sources: Sources = None,
    languages: Languages = None,
    id_prefix: IdPrefix = "",
    settings: Settings = None,
    strict: Strict = False,
    retire_missing: Annotated[
        bool, typer.Option("--retire-missing", help="FILE is a complete release: retire the entities that it lacks.")
    ] = False,
    as_edits: Annotated[
        bool, typer.Option("--as-edits", help="These are your own changes: later releases do not undo them.")
    ] = False,
    as_json: bool = JSON,
) -> None:
    """Add, replace and retire entities: a release of the source, or a file of changes.

    An entity with a new id is added; one with an id that the KB has replaces that entity, names and all.
    What was edited in the KB stays as it is, see `kb edits`; the summary lists these entities.

    A line of FILE.jsonl is an entity with the keys concept_id, canonical_name, aliases (a list), types (a
    list) and definition, the first two of them required; or it retires an id: {"concept_id": "A1",
    "retired": true, "successor": "B2"}, the successor being optional. A table has a header: code, name,
    synonyms (with | between them), type. --id-prefix chooses ids to retire, too; --types does not.

    An id that FILE calls obsolete, deleted or merged is retired, in favour of its successor if FILE names
    one. So is an alternative id of an entity (alt_id of an ontology, the other ids of MEDIC's lines).
    Entities that FILE does not have are counted, and retired with --retire-missing.

    The folder is replaced in one step at the end; a failure leaves it unchanged. New names are embedded
    into the index of a pipeline, without training.

    Example: spacy-pel kb add my_pipeline hp.obo --retire-missing
    """
    from ...kb.change_lines import apply_changes, changes_from_reader

    source = kb_source(
        reader or reader_of_all(files),
        types=types,
        sources=sources,
        languages=languages,
        id_prefix=id_prefix,
        settings=settings,
        strict=strict,
    )
    changes = changes_from_reader(source.reader, files)
    with changed_kb(kb) as (opened, component):
        update = apply_changes(opened, changes, retire_missing=retire_missing, as_edits=as_edits)
    result = {
        **_result(opened, update, retire_missing=retire_missing),
        "corrections_without_entity": _lost_corrections(component),
        "repairs": changes.repairs,
        "entities": len(opened),
        "fingerprint": opened.fingerprint,
    }
    emit(result, as_json=as_json, text=_text)


def _result(kb: "KnowledgeBase", update: "Update", *, retire_missing: bool) -> dict[str, Any]:
    missing = [] if retire_missing else update.missing
    return {
        "added": len(update.added),
        "updated": len(update.replaced),
        "unchanged": update.unchanged,
        "retired": len(update.retired),
        "successors": {one: kb.resolve(one) for one in update.retired[:_N_LISTED]},
        "n_without_successor": len(update.obsolete),
        "perhaps": {one: list(ids) for one, ids in update.obsolete.items() if ids},
        "n_missing": len(missing),
        "missing": missing[:_N_LISTED],
        "n_others": update.n_others,
        "edited": {one: kb.edits[one].kind for one in update.edited},
        "conflicts": update.conflicts,
    }


def _lost_corrections(component: Any) -> list[int]:
    """The taught corrections that have no effect, since their entity is retired."""
    if component is None:
        return []
    kb = component.kb
    return [one.id for one in component.learned if one.after != NIL and kb.resolve(one.after) is None]


def _text(result: dict[str, Any]) -> str:
    # "updated" could mean that names were added to those that an entity has
    rows: dict[str, Any] = {"added": result["added"], "replaced": result["updated"]}
    rows["unchanged"] = f"{result['unchanged']:,}"
    successors = result["successors"].items()
    rows["retired"] = counted(result["retired"], (f"{old} -> {new}" if new else old for old, new in successors))
    perhaps = (f"{old} (perhaps {', '.join(new)})" for old, new in result["perhaps"].items())
    if result["n_without_successor"]:
        rows["without successor"] = counted(result["n_without_successor"], perhaps)
    if result["n_missing"]:
        shown = counted(result["n_missing"], result["missing"])
        rows["not in the release"] = f"{shown}; retire with --retire-missing"
    if result["n_others"]:
        rows["of other sources"] = f"{result['n_others']:,}, not touched"
    if result["edited"]:
        edits = (f"{one} {kind}" for one, kind in result["edited"].items())
        rows["edits kept"] = counted(len(result["edited"]), edits)
    if lost := result["corrections_without_entity"]:
        rows["corrections without an entity"] = counted(len(lost), map(str, lost))
    rows.update({key: result[key] for key in ("repairs", "entities", "fingerprint")})
    conflicts = (
        f"conflict: {one} {result['edited'][one]} here, {what} in the release"
        for one, what in result["conflicts"].items()
    )
    return "\n".join([key_values(rows), *conflicts])
