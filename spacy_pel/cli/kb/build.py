"""The command ``kb build``: a knowledge base folder from source files."""

from pathlib import Path
from typing import Annotated

import typer

from .._app import kb_cli
from .._output import JSON, emit, key_values
from ._source import READERS, IdPrefix, Languages, Settings, Sources, Strict, Types, kb_source


@kb_cli.command("build")
def kb_build(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The KB folder to write; an existing KB is replaced.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="The source files (for umls: the META folder).")
    ],
    reader: Annotated[str, typer.Option(metavar="NAME", help=f"The format: {READERS}")],
    types: Types = None,
    sources: Sources = None,
    languages: Languages = None,
    id_prefix: IdPrefix = "",
    settings: Settings = None,
    strict: Strict = False,
    as_json: bool = JSON,
) -> None:
    """Build a knowledge base folder from source files.

    Example: spacy-pel kb build corpus/umls --reader umls 2024AA/META --types st21pv --languages ENG
    """
    from ...kb import KnowledgeBase

    source = kb_source(
        reader, types=types, sources=sources, languages=languages, id_prefix=id_prefix, settings=settings, strict=strict
    )
    kb = KnowledgeBase.read(source.reader, files, out, about=source.about, strict=strict, show_progress=True)
    repairs = {**kb.source["repairs"], **kb.meta["report"]}
    result = {**kb.meta["counts"], "repairs": repairs, "fingerprint": kb.fingerprint}
    emit(result, as_json=as_json, text=key_values)
