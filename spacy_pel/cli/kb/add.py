"""The command ``kb add``: add, replace and retire entities of a knowledge base."""

from pathlib import Path
from typing import Annotated

import typer

from .._app import kb_cli
from .._output import JSON, emit, key_values, message


@kb_cli.command("add")
def kb_add(
    kb: Annotated[Path, typer.Argument(help="The KB folder to change.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help='Entities, one per line, and lines {"concept_id": …, "retired": true, "successor": …}.',
        ),
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Reject invalid lines instead of repairing them.")
    ] = False,
    as_json: bool = JSON,
) -> None:
    """Add new entities, replace those with a known id, retire those marked as retired.

    The folder is replaced in one step at the end; a failure leaves it unchanged.

    Example: spacy-pel kb add corpus/kb changes.jsonl
    """
    from ...kb import KnowledgeBase
    from ...kb.change_lines import apply_changes, read_changes

    opened = KnowledgeBase.from_disk(kb)
    before = opened.fingerprint
    changes = read_changes(file, strict=strict)
    counts = apply_changes(opened, changes)
    opened.to_disk(kb)
    if opened.fingerprint != before:
        message("Its indexes are out of date now. Rebuild them with: spacy-pel index KB MODEL OUT")
    result = {
        **counts,
        "repairs": changes.repairs,
        "entities": len(opened),
        "fingerprint": opened.fingerprint,
    }
    emit(result, as_json=as_json, text=key_values)
