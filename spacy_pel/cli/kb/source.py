"""Options of the commands that read entities from source files, and the reader that they describe."""

from typing import Annotated, Any

from .._options import flag, option
from .._settings import make_reader, parse_settings, split_names

READERS = (
    "jsonl, csv, obo, umls, rxnorm, rf2 (SNOMED CT), loinc, mesh, medic, zeshel, corpusnames, or a registered one."
)

Filter = list[str] | None
Types = Annotated[Filter, option("NAME", "Only entities of these types, separated by commas, or st21pv.")]
Sources = Annotated[Filter, option("NAME", "Only these source vocabularies, separated by commas (umls, rxnorm).")]
Languages = Annotated[Filter, option("NAME", "Only names in these languages, separated by commas (umls, rf2).")]
IdPrefix = Annotated[str, option("TEXT", "Only entities whose id starts with this.", show_default=False)]
Strict = Annotated[bool, flag("--strict", "Reject invalid entities instead of repairing them.")]


def kb_source(
    reader: str,
    *,
    types: Filter,
    sources: Filter,
    languages: Filter,
    id_prefix: str,
    settings: list[str] | None,
    strict: bool,
) -> tuple[Any, dict[str, Any]]:
    """Make a reader from the options of a command.

    Returns:
        The reader, and its settings for meta.json.

    Raises:
        PelError: if the reader lacks one of the settings.
    """
    lists = {"types": types, "sources": sources, "languages": languages}
    of_reader: dict[str, Any] = parse_settings(settings or [])
    of_reader.update({name: split_names(",".join(values)) for name, values in lists.items() if values})
    of_reader.update({name: value for name, value in (("id_prefix", id_prefix), ("strict", strict)) if value})
    return make_reader("pel_kb_readers", reader, of_reader), {"reader": reader, "settings": of_reader}
