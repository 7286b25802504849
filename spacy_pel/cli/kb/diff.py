"""The command ``kb diff``: what changed between two knowledge bases."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import kb_cli
from .._output import JSON, emit


@kb_cli.command("diff")
def kb_diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The folder of a KB or of a pipeline.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Another one.")],
    limit: Annotated[int, typer.Option(metavar="N", min=0, help="Maximum number of ids printed of each kind.")] = 20,
    as_json: bool = JSON,
) -> None:
    """Show which entities were added, removed or changed, by id.

    Example: spacy-pel kb diff corpus/kb_2023 corpus/kb_2024 --json
    """
    from ...kb.diff import diff
    from .._kb import open_kb

    before, after = open_kb(old), open_kb(new)
    found = diff(before, after, show_progress=True)
    result = {
        "n_added": len(found.added),
        "n_removed": len(found.removed),
        "n_changed": len(found.changed),
        "n_edits": {"old": len(before.edits), "new": len(after.edits)},
        "added": found.added,
        "removed": found.removed,
        "changed": found.changed,
    }
    emit(result, as_json=as_json, text=lambda shown: _text(shown, limit))


def _text(result: dict[str, Any], limit: int) -> str:
    lines: list[str] = []
    for sign, kind in (("+", "added"), ("-", "removed"), ("~", "changed")):
        lines.append(f"{result[f'n_{kind}']:,} {kind}")
        ids = list(result[kind])
        lines += [f"{sign} {entity_id}{_note(result[kind], entity_id)}" for entity_id in ids[:limit]]
        if len(ids) > limit:
            lines.append(f"  … and {len(ids) - limit:,} more (--limit, --json)")
    if any(result["n_edits"].values()):
        lines.append("edits: {old:,} in OLD, {new:,} in NEW".format(**result["n_edits"]))
    return "\n".join(lines)


def _note(found: Any, entity_id: str) -> str:
    note = found[entity_id] if isinstance(found, dict) else None
    if not note:
        return ""
    return f" -> {note}" if isinstance(note, str) else f" ({', '.join(note)})"
