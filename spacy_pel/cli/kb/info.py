"""The command ``kb info``: content and origin of a knowledge base."""

import json
from pathlib import Path
from typing import Annotated, Any, Dict

import typer

from .._app import kb_cli
from .._output import JSON, emit

_SHOWN = 20  # types


@kb_cli.command("info")
def kb_info(
    kb: Annotated[Path, typer.Argument(help="The folder of a KB or of a pipeline.")],
    check: Annotated[
        bool, typer.Option("--check", help="Read everything and verify the fingerprint.")
    ] = False,
    as_json: bool = JSON,
) -> None:
    """Show counts, types, source, licence and fingerprint of a knowledge base.

    Example: spacy-pel kb info corpus/kb --check
    """
    from ...kb.store.check import check_content
    from .._kb import open_kb

    opened = open_kb(kb)
    if check:
        check_content(opened)
    emit({**opened.meta, "types": opened.types()}, as_json=as_json, text=_text)


def _text(result: Dict[str, Any]) -> str:
    rows = {
        **{key: f"{count:,}" for key, count in result["counts"].items()},
        "fingerprint": result["fingerprint"],
        "format": f"{result['format']} {result['version']}",
        **{f"source: {key}": _plain(value) for key, value in result["source"].items()},
        **{f"repaired: {kind}": f"{count:,}" for kind, count in result["report"].items()},
    }
    types = list(result["types"].items())
    rows.update({f"type: {kind}": f"{count:,}" for kind, count in types[:_SHOWN]})
    if len(types) > _SHOWN:
        rows["more types"] = f"{len(types) - _SHOWN:,}"
    width = max(map(len, rows))
    return "\n".join(f"{key:<{width}}  {value}" for key, value in rows.items())


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
