"""The UMLS Semantic Network: its types with their tree numbers and semantic groups, and named sets of types."""

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors, PelError
from ..util import read_lines


class SemanticType(NamedTuple):
    """A type of the network; the tree number of a descendant starts with its ancestor's."""

    tree_number: str
    name: str
    group: str  # a key of SEMANTIC_GROUPS


# McCray, Burgun & Bodenreider 2001, as in the NLM's SemGroups.txt
SEMANTIC_GROUPS = {
    "ACTI": "Activities & Behaviors",
    "ANAT": "Anatomy",
    "CHEM": "Chemicals & Drugs",
    "CONC": "Concepts & Ideas",
    "DEVI": "Devices",
    "DISO": "Disorders",
    "GENE": "Genes & Molecular Sequences",
    "GEOG": "Geographic Areas",
    "LIVB": "Living Beings",
    "OBJC": "Objects",
    "OCCU": "Occupations",
    "ORGA": "Organizations",
    "PHEN": "Phenomena",
    "PHYS": "Physiology",
    "PROC": "Procedures",
}

# MedMentions ST21pv: 21 semantic types (each with its descendants) and 18 preferred vocabularies
ST21PV_TYPES = frozenset(
    "T005 T007 T017 T022 T031 T033 T037 T038 T058 T062 T074 T082 T091 T092 T097 T098 T103 T168 T170 T201 T204".split()
)
ST21PV_SOURCES = frozenset(
    "CPT FMA GO HGNC HPO ICD10 ICD10CM ICD9CM MDR MSH MTH NCBI NCI NDDF NDFRT OMIM RXNORM SNOMEDCT_US".split()
)


@cache
def semantic_types() -> dict[str, SemanticType]:
    """The 127 types by id, and 6 chemical ones of releases before 2014."""
    rows = [line.split("\t") for _, line in read_lines(Path(__file__).with_name("semantic_types.tsv"))]
    return {tui: SemanticType(*values) for tui, *values in rows[1:]}


def type_name(kind: str) -> str:
    """The name of a semantic type, e.g. "Disease or Syndrome" for "T047"; any other type is returned as it is."""
    return semantic_types()[kind].name if kind in semantic_types() else kind


def type_label(kind: str) -> str:
    """A type for a table, e.g. "Disease or Syndrome (T047, Disorders)"; one that is not a semantic type as it is."""
    row = semantic_types().get(kind)
    return kind if row is None else f"{row.name} ({kind}, {SEMANTIC_GROUPS[row.group]})"


def type_group(types: Iterable[str]) -> str:
    """The semantic group of an entity's types, e.g. "DISO" for "T047": the group of most types, and of equally
    frequent groups the first; "" if none is a semantic type."""
    groups = Counter(semantic_types()[kind].group for kind in types if kind in semantic_types())
    return max(groups, key=groups.__getitem__, default="")


def with_descendants(types: Collection[str]) -> frozenset[str]:
    """Add the descendants of semantic types.

    Args:
        types: ids such as "T047".

    Returns:
        The ids and their descendants' ids.

    Raises:
        PelError: if an id is not in the network.
    """
    network = semantic_types()
    if unknown := sorted(set(types) - network.keys()):
        raise PelError(Errors.E122.format(unknown=", ".join(unknown)))
    # every step of a tree number is one digit, so "A2.1" cannot be taken for an ancestor of "A2.10"
    roots = tuple(network[tui].tree_number for tui in types)
    return frozenset(tui for tui, row in network.items() if row.tree_number.startswith(roots))


def expand_types(types: Collection[str]) -> frozenset[str]:
    """Replace named sets in a type filter by their types; other types stay.

    Args:
        types: e.g. ["st21pv"] or ["T047", "T191"] or ["C04"].

    Returns:
        The types.
    """
    return frozenset().union(
        *(with_descendants(ST21PV_TYPES) if name.lower() == "st21pv" else {name} for name in types)
    )
