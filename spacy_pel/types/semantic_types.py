"""The UMLS Semantic Network: its types with their tree numbers and semantic groups, the labels of mentions that
name types or groups, and values of filters for messages."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from ..errors import Errors, PelError, closest, did_you_mean, listed, quoted
from ..util import read_lines


class SemanticType(NamedTuple):
    """A type of the network; the tree number of a descendant starts with its ancestor's."""

    tree_number: str
    name: str
    group: str  # a key of SEMANTIC_GROUPS


def _rows(file: str) -> list[list[str]]:
    """The rows of a table beside this module, without its head."""
    return [line.split("\t") for _, line in read_lines(Path(__file__).with_name(file))][1:]


@cache
def semantic_types() -> dict[str, SemanticType]:
    """The 127 types by id, and 6 chemical ones of releases before 2014."""
    return {tui: SemanticType(*values) for tui, *values in _rows("semantic_types.tsv")}


# McCray, Burgun & Bodenreider 2001, as in the NLM's SemGroups.txt
_GROUPS = _rows("semantic_groups.tsv")
SEMANTIC_GROUPS = {group: name for group, name, _ in _GROUPS}
# the groups as labels of mentions
GROUP_LABELS = {group: label for group, _, label in _GROUPS}
# MedMentions ST21pv: 21 semantic types (each with its descendants), as labels, and 18 preferred vocabularies
_ST21PV = "T005 T007 T017 T022 T031 T033 T037 T038 T058 T062 T074 T082 T091 T092 T097 T098 T103 T168 T170 T201 T204"
ST21PV = {tui: semantic_types()[tui].name.upper().replace(" ", "_") for tui in _ST21PV.split()}
_BY_LABEL = {label: tui for tui, label in ST21PV.items()}
TYPE_LABELS = (*ST21PV, *ST21PV.values(), *GROUP_LABELS.values())  # of mentions whose group is known
ST21PV_SOURCES = frozenset(
    "CPT FMA GO HGNC HPO ICD10 ICD10CM ICD9CM MDR MSH MTH NCBI NCI NDDF NDFRT OMIM RXNORM SNOMEDCT_US".split()
)


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


@lru_cache(maxsize=1024)
def st21pv_type(kind: str) -> str | None:
    """The type of ST21pv that a semantic type is or descends from.

    Args:
        kind: an id such as "T047", or a label such as "BIOLOGIC_FUNCTION", capitals ignored.

    Returns:
        Its id, "T038" for both; None if there is none.
    """
    tui = _tui(kind)
    if tui is None:
        return None
    network = semantic_types()
    return next((root for root in ST21PV if _is_below(network[tui], network[root])), None)


def label_of(kind: str) -> str:
    """The label in ST21pv of a semantic type, "BIOLOGIC_FUNCTION" for "T047", or of several, such as "T116,T123"; any
    other label as it is."""
    return st21pv_label(kind.split(",")) or kind


def st21pv_label(types: Iterable[str]) -> str:
    """The label of an entity's types, e.g. "BIOLOGIC_FUNCTION" for "T047": that of most of them, and of equally
    frequent labels the first; "" if none is a type of ST21pv."""
    labels = Counter(ST21PV[tui] for tui in map(st21pv_type, types) if tui is not None)
    return max(labels, key=labels.__getitem__, default="")


def label_group(label: str) -> str:
    """The semantic group that most mentions of a label belong to.

    Args:
        label: of ST21PV or GROUP_LABELS, or the id of a semantic type.

    Returns:
        A key of SEMANTIC_GROUPS, "" for other labels. That of the type itself, but "DISO" for Biologic Function
        (T038), which UMLS counts among the phenomena: 56% of MedMentions' mentions of it and its descendants are
        disorders, 41% physiology and 3% phenomena.
    """
    tui = _tui(label)
    if tui == "T038":
        return "DISO"
    if tui is not None:
        return semantic_types()[tui].group
    return next((group for group, name in GROUP_LABELS.items() if name == label), "")


def mention_group(label: str, types: Iterable[str]) -> str:
    """The semantic group of a mention: that of its entity's types where they have one, or else of its label."""
    return type_group(types) or label_group(label)


@lru_cache(maxsize=1024)
def label_names(label: str) -> frozenset[str]:
    """What a setting may call a label: as it is, by its label and id in ST21pv, and by its group. For
    "BIOLOGIC_FUNCTION" these are "BIOLOGIC_FUNCTION", "T038" and "DISORDER"."""
    names = (label, label_of(label), st21pv_type(label), GROUP_LABELS.get(label_group(label)))
    return frozenset(name for name in names if name)


def labels_named(names: Collection[str], labels: Collection[str], *, where: str) -> frozenset[str]:
    """Choose among labels.

    Args:
        names: see ``label_names``.
        labels: those there are.
        where: the setting with the names, for the error.

    Returns:
        The labels with one of these names.

    Raises:
        PelError: if a name is that of no label.
    """
    known: frozenset[str] = frozenset().union(*map(label_names, labels))
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            if name in semantic_types():
                hint = f" (a part of '{label_of(name)}')" if label_of(name) in known else ""
            raise PelError(Errors.E526.format(where=where, got=name, hint=hint, labels=", ".join(labels)))
    return frozenset(label for label in labels if not label_names(label).isdisjoint(names))


def _tui(kind: str) -> str | None:
    return kind if kind in semantic_types() else _BY_LABEL.get(kind.upper())


def _is_below(row: SemanticType, ancestor: SemanticType) -> bool:
    """Whether a type is another one or descends from it."""
    # every step of a tree number is one digit, so "A2.1" cannot be taken for an ancestor of "A2.10"
    return row.tree_number.startswith(ancestor.tree_number)


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
    return frozenset(tui for tui, row in network.items() if any(_is_below(row, network[root]) for root in types))


def expand_types(types: Collection[str]) -> frozenset[str]:
    """Replace named sets in a type filter by their types; other types stay.

    Args:
        types: e.g. ["st21pv"] or ["T047", "T191"] or ["C04"].

    Returns:
        The types.
    """
    return frozenset().union(*(with_descendants(ST21PV) if name.lower() == "st21pv" else {name} for name in types))


_N_LISTED = 10


def listed_values(counts: Mapping[str, int]) -> str:
    """The most frequent values with their counts, and how many more there are.

    Args:
        counts: by value; "" = entities without one.
    """
    shown = [f"{shown_value(value)} ({count:,})" for value, count in Counter(counts).most_common(_N_LISTED)]
    return listed(shown, len(counts))


def shown_value(value: str) -> str:
    """A value in quotes; a semantic type with its name."""
    if not value:
        return "no type"
    return quoted(value) if type_name(value) == value else f"{value} {type_name(value)}"


def did_you_mean_value(text: str, known: Iterable[str]) -> str:
    """A question to append to a clause about an unknown value: the closest one, semantic types also by their names;
    empty if none is close, or the text is the id of a semantic type."""
    if type_name(text) != text:
        return ""
    by_form = {form: value for value in known if value for form in (type_name(value), value)}
    match = closest(text, by_form)
    return f" (did you mean {shown_value(by_form[match])}?)" if match else ""
