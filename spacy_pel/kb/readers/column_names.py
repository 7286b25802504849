"""What the fields of an entity are called in tables, and which one a name may stand for."""

import re
from collections.abc import Iterable

# field -> what other tools call its column
USUAL_NAMES: dict[str, tuple[str, ...]] = {
    "concept_id": ("id", "code", "curie", "cui", "cid", "class_id"),
    "canonical_name": (
        *("name", "label", "term", "display", "display_name"),
        *("preferred_name", "preferred_term", "preferred_label"),
    ),
    "aliases": ("alias", "synonyms", "synonym"),
    "types": ("type", "semantic_types", "semantic_type"),
    "definition": ("description",),
    "xrefs": ("xref", "cross_references", "mappings", "source_ids"),
    "parents": ("parent", "is_a", "parent_ids"),
}
FIELDS = tuple(USUAL_NAMES)
FIELD_OF = {name: field for field, names in USUAL_NAMES.items() for name in (field, *names)}
LISTS = ("aliases", "types", "xrefs", "parents")  # fields of several texts

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VOCABULARY = re.compile(
    r"(snomed\W*_?(ct)?|sct|umls|mesh|rxnorm|loinc|atc|ncit?|omim|hpo|icd\W*_?\d*\W*_?(cm|pcs)?|concept|entity)[\W_]*",
    re.IGNORECASE,
)
# columns that only tables in these formats have -> their reader
_PUBLISHED = {
    ("effective_time", "module_id"): "rf2",
    ("loinc_num", "long_common_name"): "loinc",
    ("loinc", "map_to"): "loinc",
    ("class_id", "preferred_label", "obsolete", "parents"): "bioportal",
}


def plain(name: str) -> str:
    """A name of a column in lower case, with "_" between its words."""
    return re.sub(r"[\W_]+", "_", _CAMEL_CASE.sub("_", name)).strip("_").lower()


def without_vocabulary(name: str) -> str:
    """As ``plain``, without the vocabulary at the start of "SNOMED CT ID" or "ICD-10 code"."""
    found = _VOCABULARY.match(name)
    return plain(name[found.end() :] if found else name)


def published_as(header: Iterable[str]) -> str:
    """The reader of the published format that has such a header; "" = it may be any table."""
    names = set(map(plain, header))
    return next((reader for columns, reader in _PUBLISHED.items() if names.issuperset(columns)), "")
