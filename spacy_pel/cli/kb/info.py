"""The command ``kb info``: content and origin of a knowledge base."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._app import kb_cli
from .._output import JSON, emit, plain

_SHOWN = 20  # types


@kb_cli.command("info")
def kb_info(
    kb: Annotated[Path, typer.Argument(metavar="KB", help="The folder of a KB or of a pipeline.")],
    check: Annotated[bool, typer.Option("--check", help="Read everything and verify the fingerprint.")] = False,
    as_json: bool = JSON,
) -> None:
    """Show counts, types, source, licence and fingerprint of a knowledge base.

    Example: spacy-pel kb info corpus/kb --check
    """

    from .._kb import open_kb

    opened = open_kb(kb)
    if check:
        opened.validate()
    emit({**opened.meta, "types": opened.types()}, as_json=as_json, text=_text)


def _text(result: dict[str, Any]) -> str:
    rows = {
        **{key: f"{count:,}" for key, count in result["counts"].items()},
        "fingerprint": result["fingerprint"],
        "format": f"{result['format']} {result['version']}",
        **_origin(result["source"]),
        **{f"repaired: {kind}": f"{count:,}" for kind, count in result["report"].items()},
    }
    types = list(result["types"].items())
    rows.update({f"type: {kind}": f"{count:,}" for kind, count in types[:_SHOWN]})
    if len(types) > _SHOWN:
        rows["more types"] = f"{len(types) - _SHOWN:,}"
    width = max(map(len, rows))
    return "\n".join(f"{key:<{width}}  {value}" for key, value in rows.items())


def _origin(source: dict[str, Any]) -> dict[str, str]:
    """What is known of the source; a row for each of several."""
    rows = {}
    for key, value in source.items():
        if key == "sources" and isinstance(value, list):
            for one in value:
                facts = (f"{one['ids']:,} ids" if "ids" in one else "", one.get("version"), one.get("licence"))
                rows[f"from {one['name']}"] = ", ".join(filter(None, facts))
        elif value not in ("", None, [], {}):
            rows[f"source: {key}"] = plain(value)
    return rows
