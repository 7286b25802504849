"""The command ``kb edits``: what curators changed in a knowledge base."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import kb_cli
from .._output import JSON, emit
from ._changed import changed_kb


@kb_cli.command("edits")
def kb_edits(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The folder of a KB or of a pipeline.")],
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="Withdraw the edits of this entity: it is as the source has it (repeatable)."),
    ] = None,
    as_json: bool = JSON,
) -> None:
    """List the entities that were edited: added, replaced, renamed or retired in Python, or with
    `kb add --as-edits`. Edits stay through later releases of the source.

    Example: spacy-pel kb edits my_pipeline --drop HP:0012832
    """
    from .._kb import open_kb

    if drop:
        with changed_kb(kb) as (opened, _):
            dropped = [_record(opened, one) for one in dict.fromkeys(drop) if one in opened.edits]
            opened.withdraw(drop)
        emit({"dropped": dropped, "n_edits": len(opened.edits)}, as_json=as_json, text=_dropped)
        return
    opened = open_kb(kb)
    emit({"edits": [_record(opened, one) for one in opened.edits]}, as_json=as_json, text=_table)


def _record(kb: Any, entity_id: str) -> dict[str, Any]:
    """An edit; "was" and "is" are null for an entity that was or is not there."""
    edit, is_live = kb.edits[entity_id], kb.resolve(entity_id) == entity_id
    release = edit.release
    return {
        "concept_id": entity_id,
        "edit": edit.kind,
        "at": edit.at,
        "was": release.entity.to_json() if release.live else None,
        "is": kb[entity_id].to_json() if is_live else None,
        "successor": edit.successor,
    }


def _table(result: dict[str, Any]) -> str:
    return "\n".join(map(_line, result["edits"])) or "no edits"


def _dropped(result: dict[str, Any]) -> str:
    lines = [f"dropped  {_line(one)}" for one in result["dropped"]]
    return "\n".join([*lines, f"edits left: {result['n_edits']:,}"])


def _line(one: dict[str, Any]) -> str:
    was, new = (one[key] and one[key]["canonical_name"] for key in ("was", "is"))
    change = f"{was or '–'} -> {new or one['successor'] or '–'}"
    return f"{one['at']}  {one['concept_id']}  {one['edit']}  {change}"
