"""Options of the commands that read entities from source files, and the reader that they describe."""

from typing import Annotated, Any, NamedTuple

import typer

from .._settings import make_reader, parse_settings

READERS = (
    "jsonl, csv, obo, umls, rxnorm, rf2 (SNOMED CT), loinc, mesh, medic, zeshel, corpusnames, or another "
    "registered one."
)

Types = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Keep entities of these types, separated by commas; st21pv = MedMentions' set."),
]
Sources = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Keep these source vocabularies, separated by commas (umls, rxnorm)."),
]
Languages = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Keep names in these languages, separated by commas (umls, rf2)."),
]
IdPrefix = Annotated[
    str, typer.Option(metavar="TEXT", help="Keep entities whose id starts with this.", show_default=False)
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Another setting of the reader, e.g. id_xref=UMLS (repeatable)."),
]
Strict = Annotated[bool, typer.Option("--strict", help="Reject invalid entities instead of repairing them.")]


class Source(NamedTuple):
    """How to read source files.

    Attributes:
        reader: made with the settings.
        about: the reader's name and its settings, for meta.json.
    """

    reader: Any
    about: dict[str, Any]


def kb_source(
    reader: str,
    *,
    types: list[str] | None,
    sources: list[str] | None,
    languages: list[str] | None,
    id_prefix: str,
    settings: list[str] | None,
    strict: bool,
) -> Source:
    """Of the options. RAISES (PelError): if the reader does not have one of them."""
    lists = {"types": types, "sources": sources, "languages": languages}
    filters = {name: _split(values) for name, values in lists.items() if values}
    given: dict[str, Any] = {**parse_settings(settings or []), **filters}
    if id_prefix:
        given["id_prefix"] = id_prefix
    if strict:
        given["strict"] = True
    made = make_reader("pel_kb_readers", reader, given)
    return Source(made, {"reader": reader, "settings": given})


def _split(values: list[str]) -> list[str]:
    return [part.strip() for value in values for part in value.split(",") if part.strip()]
