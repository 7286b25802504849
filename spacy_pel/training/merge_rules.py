"""What makes a merged knowledge base trustworthy: one term names one entity, preferred names go by vote, and entities
that nothing tells apart become one.

A vocabulary's cross reference often names several ids, and a mapping from one vocabulary to the next may go astray.
So names bear witness: an id that other sources call as the term is called is the term's id.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ..types.semantic_types import type_group, type_name
from ..util import normalize_alias
from .merge_record import MergeRecord, plain_name

_EXAMPLES = 10
Node = TypeVar("Node")
Records = Mapping[str, MergeRecord]  # by id


@dataclass
class RuleCount:
    """How often a rule changed something, and the first examples."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        """Count a change."""
        self.count += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)


class Rules(defaultdict[str, RuleCount]):
    """What the rules changed, by rule."""

    def __init__(self) -> None:
        super().__init__(RuleCount)


class Witnesses:
    """Who calls an id what: normalised names of each id, and the sources that give them.

    Attributes:
        annotated: ids that annotated text names; of two ids with as many witnesses these come first.
    """

    def __init__(self) -> None:
        self.annotated: set[str] = set()
        self._sources_of: dict[str, dict[str, set[str]]] = defaultdict(dict)

    def add(self, entity_id: str, names: Iterable[str], source: str) -> None:
        """Note what a source calls an id.

        Args:
            entity_id: the id that the source names for sure.
            names: normalised names.
            source: its name.
        """
        known = self._sources_of[entity_id]
        for name in names:
            known.setdefault(name, set()).add(source)

    def agreeing(self, entity_id: str, names: Collection[str], source: str) -> set[str]:
        """The other sources that give an id any of some normalised names."""
        known = self._sources_of.get(entity_id, {})
        return {other for name in names if name in known for other in known[name]} - {source}

    def others(self, entity_id: str, source: str) -> set[str]:
        """The other sources that name an id at all."""
        return {other for sources in self._sources_of.get(entity_id, {}).values() for other in sources} - {source}

    def best(self, ids: Sequence[str], names: Sequence[str], source: str) -> str:
        """The id that a term is: that on whose names most other sources agree with it, first with its label, then
        with any of its names; then an annotated one, then that of the most sources, then the first.

        Args:
            ids: those that the term may be.
            names: the normalised names of the term, its label first.
            source: that of the term.
        """

        def support(at: int) -> tuple[int, int, bool, int, int]:
            entity_id = ids[at]
            by_label, by_name = (len(self.agreeing(entity_id, some, source)) for some in (names[:1], names))
            return by_label, by_name, entity_id in self.annotated, len(self.others(entity_id, source)), -at

        return ids[max(range(len(ids)), key=support)]


def choose_preferred_names(records: Records, named: Collection[str], rules: Rules) -> dict[str, str]:
    """Give each record the label of most sources, where a curated mapping counts twice, and no label that curated
    mappings give to another record: Curling's ulcer is not called "duodenal ulcer".

    Args:
        records: by id.
        named: ids whose names stay: those of the base.
        rules: counts the changes.

    Returns:
        Ids that have no name of their own -> the ids whose names they bear.
    """
    owner: dict[str, str] = {}  # normalised label -> the id that a curated mapping gives it
    for entity_id, record in records.items():
        for source in record.labels:
            if source in record.curated:
                owner.setdefault(normalize_alias(record.labels[source]), entity_id)
    owners = set(owner.values())
    nameless: dict[str, str] = {}
    called = {normalize_alias(records[entity_id].canonical_name) for entity_id in named}  # normalised preferred names
    # annotated text alone does not say what is called so, so its entities choose last
    unnamed = (item for item in records.items() if item[0] not in named)
    for entity_id, record in sorted(unnamed, key=lambda item: not item[1].labels):
        before = record.canonical_name
        votes: dict[str, int] = defaultdict(int)
        for source, label in record.labels.items():
            votes[normalize_alias(label)] += 1 + (source in record.curated)
        ranked = sorted(votes, key=votes.__getitem__, reverse=True)  # stable: of equal votes the earlier source's
        names = sorted(record.named.values(), key=str.isupper)  # an acronym is called so last
        spelling: dict[str, str] = {}
        for name in (*record.labels.values(), *names):
            spelling.setdefault(normalize_alias(name), name)
        own = [name for name in (*ranked, *spelling) if owner.get(name, entity_id) == entity_id]
        if record.has_forms_only:
            forms = list(filter(None, map(plain_name, record.forms)))
            # annotators told it apart from what is called so, and its type says how
            told_apart = [f"{forms[0]} [{type_name(kind)}]" for kind in record.all_types] if forms else []
            free = (name for name in (*forms, *told_apart) if normalize_alias(name) not in called)
            record.preferred = next(free, "")
            record.add_name(record.preferred)
        elif own:
            record.preferred = spelling[own[0]]
        elif ranked and entity_id not in owners and _are_alike(records, entity_id, owner[ranked[0]]):
            nameless[entity_id] = owner[ranked[0]]
        if record.canonical_name != before:
            rules["preferred name changed"].add(f"{entity_id}: {before} -> {record.preferred}")
        called.add(normalize_alias(record.canonical_name))
    return nameless


def find_twins(records: Records, first: Collection[str], annotated: Collection[str]) -> dict[str, str]:
    """Entities that sources call the same and that nothing tells apart: they are of one semantic group, and neither
    is above the other. The best stays, and each of the others is compared with it alone; those that differ from it are
    compared with the best of them.

    Args:
        records: by id.
        first: ids that stay before all others.
        annotated: ids that stay before the rest, as users' links name them.

    Returns:
        Id -> the id that stays.
    """
    same_name: dict[str, list[str]] = defaultdict(list)
    for entity_id, record in records.items():
        if record.labels:
            same_name[normalize_alias(record.canonical_name)].append(entity_id)

    def preference(entity_id: str) -> tuple[bool, bool, int, int, str]:
        record = records[entity_id]
        n_curated, n_sources = len(record.curated), len(record.sources)
        return entity_id not in first, entity_id not in annotated, -n_curated, -n_sources, entity_id

    twins: dict[str, str] = {}
    for ids in same_name.values():
        waiting = sorted(ids, key=preference)
        while waiting:
            keeper, *others = waiting
            alike = {entity_id: keeper for entity_id in others if _are_alike(records, keeper, entity_id)}
            twins |= alike
            waiting = [entity_id for entity_id in others if entity_id not in alike]
    return twins


def find_annotated_twins(records: Records, first: Collection[str]) -> dict[str, str]:
    """Entities that annotators never chose: what these are called, they marked as another entity, mostly by this name,
    which it has elsewhere, too, and nothing else tells the two apart. So "tonsillitis" is what an ontology calls
    "recurrent tonsillitis".

    Args:
        records: by id.
        first: ids that stay.

    Returns:
        Id -> the id that stays.
    """
    called = {
        normalize_alias(record.canonical_name): entity_id
        for entity_id, record in records.items()
        if not record.forms and entity_id not in first
    }
    twins: dict[str, str] = {}
    for entity_id, record in records.items():
        form = normalize_alias(record.forms[0]) if record.forms else ""
        is_name = form in called and form in map(normalize_alias, record.named.values())
        if is_name and _are_alike(records, entity_id, called[form]):
            twins.setdefault(called[form], entity_id)
    return twins


def _are_alike(records: Records, one: str, other: str) -> bool:
    """Whether neither types nor is-a tell ids apart that are called the same."""
    record, twin = records[one], records[other]
    groups = [type_group(each.all_types) or " ".join(each.all_types) for each in (record, twin)]
    if "" not in groups and groups[0] != groups[1]:
        return False

    def parents_of(entity_id: str) -> Iterable[str]:
        return filter(records.__contains__, records[entity_id].parents)

    return other not in _ancestors(one, parents_of) and one not in _ancestors(other, parents_of)


def _ancestors(start: Node, parents_of: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """What is above something, over any number of steps."""
    above: set[Node] = set()
    queue = [start]
    for at in queue:  # which grows
        new = [parent for parent in parents_of(at) if parent not in above]
        above.update(new)
        queue += new
    return above


def without_circles(records: Records, rules: Rules) -> None:
    """Leave out parents that have the entity above them, in place: ontologies disagree on what is broader.

    Args:
        records: by id; their parents are ids of records.
        rules: counts what is left out.
    """
    ids = sorted(records)
    number_of = {entity_id: number for number, entity_id in enumerate(ids)}
    pairs = [(number_of[one], number_of[parent]) for one in ids for parent in records[one].parents]
    children, parents = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    graph = csr_array((np.ones(len(pairs), dtype=np.bool_), (children, parents)), shape=(len(ids), len(ids)))
    _, component = connected_components(graph, connection="strong")  # circles are within these
    kept: dict[int, list[int]] = defaultdict(list)  # parents in the same component
    for child, parent in zip(children.tolist(), parents.tolist(), strict=True):
        if component[child] != component[parent]:
            continue
        if child == parent or child in _ancestors(parent, lambda at: kept.get(at, ())):
            record = records[ids[child]]
            del record.parents[ids[parent]]
            rules["circle of parents"].add(f"{ids[child]} ({record.canonical_name}): {ids[parent]}")
        else:
            kept[child].append(parent)
