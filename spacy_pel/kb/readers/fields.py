"""What the fields of an entity are called in tables, and which one a name may stand for."""

from typing import Dict, Iterable, Tuple

from ...errors import nearest_of

# field -> what other tools call its column
USUAL_NAMES: Dict[str, Tuple[str, ...]] = {
    "concept_id": ("id", "code", "curie", "cui"),
    "canonical_name": ("name", "label", "term", "preferred_name", "preferred_term"),
    "aliases": ("alias", "synonyms", "synonym"),
    "types": ("type", "semantic_types", "semantic_type"),
    "definition": ("description",),
}
FIELDS = tuple(USUAL_NAMES)


def plain(name: str) -> str:
    """RETURNS (str): a name of a column in lower case, with "_" between its words."""
    return "_".join(name.lower().split())


def field_meant(name: str, fields: Iterable[str]) -> Tuple[str, str]:
    """Which field a misspelt name may stand for.

    name (str): of a column or a key.
    fields (Iterable[str]): those that nothing was read for.
    RETURNS (Tuple[str, str]): the known name that is nearest, and its field; empty if none is near.
    """
    known = {usual: field for field in fields for usual in (field, *USUAL_NAMES[field])}
    found = nearest_of(plain(name), known, cutoff=0.7)
    return found, known.get(found, "")
