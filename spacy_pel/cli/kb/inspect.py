"""The commands ``kb info``, ``kb show`` and ``kb diff``, which print what a KB holds."""

from typing import Annotated, Any

from .._app import kb_cli
from .._kb import open_kb
from .._options import CurrentKB, KBOrPipeline, OldKB, argument, flag, option
from .._output import JSON, emit, first_rows, key_values


@kb_cli.command("info")
def kb_info(
    kb: KBOrPipeline,
    check: Annotated[bool, flag("--check", "Read everything and verify the fingerprint.")] = False,
    as_json: bool = JSON,
) -> None:
    """Show counts, types, source, licence and fingerprint of a knowledge base.

    Example: spacy-pel kb info corpus/kb --check
    """
    opened = open_kb(kb)
    if check:
        opened.validate()
    emit({**opened.meta, "types": opened.types()}, as_json=as_json, text=_info_text)


def _info_text(result: dict[str, Any]) -> str:
    rows = {key: f"{count:,}" for key, count in result["counts"].items()}
    rows.update({"fingerprint": result["fingerprint"], "format": f"{result['format']} {result['version']}"})
    for key, value in result["source"].items():
        if key == "sources" and isinstance(value, list):
            for source in value:
                ids = f"{source['ids']:,} ids" if "ids" in source else ""
                rows[f"from {source['name']}"] = ", ".join(
                    filter(None, (ids, source.get("version"), source.get("licence")))
                )
        elif value not in ("", None, [], {}):
            rows[f"source: {key}"] = value
    rows.update({f"repaired: {kind}": f"{count:,}" for kind, count in result["report"].items()})
    return key_values({**rows, **first_rows("type", result["types"])})


@kb_cli.command("show")
def kb_show(
    kb: KBOrPipeline, entity_id: Annotated[str, argument("ID", "An id, live or retired.")], as_json: bool = JSON
) -> None:
    """Show an entity. A retired id shows its successor.

    Example: spacy-pel kb show corpus/kb C0004057
    """
    entity = open_kb(kb)[entity_id]
    result = entity.to_json()
    if entity.concept_id != entity_id:
        result["successor_of"] = entity_id
    emit(result, as_json=as_json, text=_entity_text)


def _entity_text(result: dict[str, Any]) -> str:
    lines = [f"{result['concept_id']}  {result['canonical_name']}"]
    if "successor_of" in result:
        lines.append(f"successor of {result['successor_of']}, which is retired")
    if result["types"]:
        lines.append(f"types: {', '.join(result['types'])}")
    if result["definition"]:
        lines.append(result["definition"])
    return "\n".join([*lines, *(f"- {alias}" for alias in result["aliases"])])


@kb_cli.command("diff")
def kb_diff(
    old: OldKB,
    new: CurrentKB,
    limit: Annotated[int, option("N", "Maximum number of ids printed of each kind.", min=0)] = 20,
    as_json: bool = JSON,
) -> None:
    """Show which entities were added, removed or changed, by id.

    Example: spacy-pel kb diff corpus/kb_2023 corpus/kb_2024 --json
    """
    from ...kb.diff import diff

    before, after = open_kb(old), open_kb(new)
    changes = vars(diff(before, after, show_progress=True))
    counts = {f"n_{kind}": len(changes[kind]) for kind in ("added", "removed", "changed")}
    result = {**counts, "n_edits": {"old": len(before.edits), "new": len(after.edits)}, **changes}
    emit(result, as_json=as_json, text=lambda shown: _diff_text(shown, limit))


def _diff_text(result: dict[str, Any], limit: int) -> str:
    lines: list[str] = []
    for sign, kind in (("+", "added"), ("-", "removed"), ("~", "changed")):
        ids = result[kind]
        lines.append(f"{len(ids):,} {kind}")
        lines += [f"{sign} {entity_id}{_note(ids, entity_id)}" for entity_id in list(ids)[:limit]]
        if len(ids) > limit:
            lines.append(f"  … and {len(ids) - limit:,} more (--limit, --json)")
    if any(result["n_edits"].values()):
        lines.append("edits: {old:,} in OLD, {new:,} in NEW".format(**result["n_edits"]))
    return "\n".join(lines)


def _note(changes: Any, entity_id: str) -> str:
    note = changes[entity_id] if isinstance(changes, dict) else None
    if not note:
        return ""
    return f" -> {note}" if isinstance(note, str) else f" ({', '.join(note)})"
