"""The command ``kb build``, which writes a KB folder."""

from pathlib import Path
from typing import Annotated

from .._app import kb_cli
from .._kb import reader_of_all
from .._options import Below, NewKB, Settings, argument
from .._output import JSON, emit, key_values
from .source import IdPrefix, Languages, Reader, Sources, Strict, Types, kb_source


@kb_cli.command("build")
def kb_build(
    out: NewKB,
    files: Annotated[list[Path], argument("FILE", "The source files; for umls the META folder.")],
    reader: Reader = None,
    types: Types = None,
    sources: Sources = None,
    languages: Languages = None,
    id_prefix: IdPrefix = "",
    below: Below = None,
    settings: Settings = None,
    strict: Strict = False,
    as_json: bool = JSON,
) -> None:
    """Build a knowledge base from source files.

    Example: spacy-pel kb build corpus/umls --reader umls 2024AA/META --types st21pv --languages ENG
    """
    from ...kb import KnowledgeBase

    lists = {"types": types, "sources": sources, "languages": languages}
    values = {"id_prefix": id_prefix, "strict": strict}
    made, source = kb_source(reader or reader_of_all(files), settings, lists, values)
    kb = KnowledgeBase.read(made, files, out, about=source, below=below or (), strict=strict, show_progress=True)
    repairs = {**kb.source["repairs"], **kb.meta["report"]}
    result = {**kb.meta["counts"], "repairs": repairs, "fingerprint": kb.fingerprint}
    emit(result, as_json=as_json, text=key_values)
