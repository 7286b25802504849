"""The command ``kb build``: a knowledge base folder from source files."""

from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional

import typer

from .._app import kb_cli
from .._output import JSON, emit, key_values
from .._settings import make_reader, parse_settings


@kb_cli.command("build")
def kb_build(
    out: Annotated[Path, typer.Argument(help="The KB folder to write; an existing KB is replaced.")],
    files: Annotated[List[Path], typer.Argument(help="The source files (for umls: the META folder).")],
    reader: Annotated[
        str,
        typer.Option(
            help="The format: jsonl, umls, obo, mesh, medic, csv, zeshel, or any registered reader."
        ),
    ],
    types: Annotated[
        Optional[List[str]],
        typer.Option(help="Keep entities of these types, separated by commas; st21pv = MedMentions' set."),
    ] = None,
    sources: Annotated[
        Optional[List[str]], typer.Option(help="Keep these source vocabularies, separated by commas.")
    ] = None,
    languages: Annotated[
        Optional[List[str]], typer.Option(help="Keep names in these languages, separated by commas.")
    ] = None,
    id_prefix: Annotated[str, typer.Option(help="Keep entities whose id starts with this.")] = "",
    settings: Annotated[
        Optional[List[str]],
        typer.Option(
            "--set", help="Another setting of the reader as NAME=VALUE, e.g. id_xref=UMLS (repeatable)."
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Reject invalid entities instead of repairing them.")
    ] = False,
    as_json: bool = JSON,
) -> None:
    """Build a knowledge base folder from source files.

    Example: spacy-pel kb build corpus/umls --reader umls 2024AA/META --types st21pv --languages ENG
    """
    from ...kb.readers.from_reader import build_from_reader

    lists = {"types": types, "sources": sources, "languages": languages}
    filters = {name: _split(values) for name, values in lists.items() if values}
    given: Dict[str, Any] = {**parse_settings(settings or []), **filters}
    if id_prefix:
        given["id_prefix"] = id_prefix
    if strict:
        given["strict"] = True
    made = make_reader("pel_kb_readers", reader, given)
    about = {"reader": reader, "settings": given}
    kb = build_from_reader(made, files, out, source=about, strict=strict, show_progress=True)
    repairs = {**kb.source["repairs"], **kb.meta["report"]}
    result = {**kb.meta["counts"], "repairs": repairs, "fingerprint": kb.fingerprint}
    emit(result, as_json=as_json, text=key_values)


def _split(values: List[str]) -> List[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
