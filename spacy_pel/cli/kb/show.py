"""The command ``kb show``: one entity."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import kb_cli
from .._output import JSON, emit


@kb_cli.command("show")
def kb_show(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The folder of a KB or of a pipeline.")],
    entity_id: Annotated[str, typer.Argument(metavar="ID", help="An id, live or retired.")],
    as_json: bool = JSON,
) -> None:
    """Show an entity. A retired id shows its successor.

    Example: spacy-pel kb show corpus/kb C0004057
    """
    from .._kb import open_kb

    entity = open_kb(kb)[entity_id]
    result = entity.to_json()
    if entity.concept_id != entity_id:
        result["successor_of"] = entity_id
    emit(result, as_json=as_json, text=_text)


def _text(result: dict[str, Any]) -> str:
    lines = [f"{result['concept_id']}  {result['canonical_name']}"]
    if "successor_of" in result:
        lines.append(f"successor of {result['successor_of']}, which is retired")
    if result["types"]:
        lines.append(f"types: {', '.join(result['types'])}")
    if result["definition"]:
        lines.append(result["definition"])
    return "\n".join([*lines, *(f"- {alias}" for alias in result["aliases"])])
