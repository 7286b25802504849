"""Options of the commands that read entities from source files, and the reader that they describe."""

from typing import Annotated, Any

from .._options import flag, option
from .._settings import make_reader, parse_settings, split_names

_READERS = (
    "jsonl, csv, obo, umls, rxnorm, rf2 (SNOMED CT), loinc, mesh, medic, zeshel, corpusnames, saved (a KB folder), or "
    "a registered one."
)

Filter = list[str] | None
Reader = Annotated[str | None, option("NAME", f"The format. Default: by the file's name. {_READERS}")]
Types = Annotated[Filter, option("NAME", "Only entities of these types, separated by commas, or st21pv.")]
Sources = Annotated[Filter, option("NAME", "Only these source vocabularies, separated by commas (umls, rxnorm).")]
Languages = Annotated[Filter, option("NAME", "Only names in these languages, separated by commas (umls, rf2).")]
IdPrefix = Annotated[str, option("TEXT", "Only entities whose id starts with this.", show_default=False)]
Strict = Annotated[bool, flag("--strict", "Reject invalid entities instead of repairing them.")]


def kb_source(
    reader: str, settings: Filter, lists: dict[str, Filter], values: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Make a reader from the options of a command.

    Args:
        reader: its name.
        settings: of ``--set``.
        lists, values: other settings by name; those that are empty are left out.

    Returns:
        The reader, and its settings for meta.json.

    Raises:
        PelError: if the reader lacks one of the settings.
    """
    of_reader: dict[str, Any] = parse_settings(settings or [])
    of_reader.update({name: split_names(",".join(texts)) for name, texts in lists.items() if texts})
    of_reader.update({name: value for name, value in values.items() if value})
    return make_reader("pel_kb_readers", reader, of_reader), {"reader": reader, "settings": of_reader}
