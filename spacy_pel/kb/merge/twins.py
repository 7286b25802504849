"""Twins: ids of a merge that have the same names and are linked from the same source term.

An ontology term may refer to several ids (two CUIs that were once one concept). The merge
then gives both the same strings, and nothing distinguishes them. The rule:

1. Twins are ids with the same set of names (case, punctuation and order aside) that are
   joined by a source term: both carry its id. Ids with the same names but from
   different terms (homonyms) are not twins.
2. In each group, an id of the base is kept; else the id named by most sources through a curated
   exact match; on a tie the one named by most sources at all; then the lowest.
3. The others, unless they are of the base, too, are retired: they stay resolvable as redirects to
   the id that is kept, which also takes over their types, definition and source ids.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

import numpy as np

from ...util import normalize_alias
from .merge_record import MergeRecord


def merge_twins(records: dict[str, MergeRecord], base: Collection[str] = frozenset()) -> dict[str, str]:
    """Merge the twins among the records, in place.

    Args:
        records: id -> record; the retired ids are taken out.
        base: ids that are never retired.

    Returns:
        Retired id -> the id that stays.
    """

    def preference(entity_id: str) -> tuple[bool, int, int, str]:
        record = records[entity_id]
        return entity_id not in base, -len(record.curated), -len(record.sources), entity_id

    redirects: dict[str, str] = {}
    for group in find_twins(records):
        keeper, *others = sorted(group, key=preference)
        for entity_id in others:
            if entity_id not in base:
                records[keeper].take_over(records.pop(entity_id))
                redirects[entity_id] = keeper
    return redirects


def find_twins(records: Mapping[str, MergeRecord]) -> list[list[str]]:
    """The groups of twins, each with two ids at least."""
    same_names: dict[frozenset, list[str]] = defaultdict(list)
    for entity_id, record in records.items():
        same_names[frozenset(map(normalize_alias, record.names))].append(entity_id)
    groups = [group for ids in same_names.values() if len(ids) > 1 for group in _joined(ids, records)]
    return [group for group in groups if len(group) > 1]


def _joined(ids: list[str], records: Mapping[str, MergeRecord]) -> list[list[str]]:
    """The groups of ids that are connected, where sharing a source term connects."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes: dict[str, int] = {}  # the source terms, after the ids
    links = [
        (at, nodes.setdefault(term_id, len(ids) + len(nodes)))
        for at, entity_id in enumerate(ids)
        for term_id in records[entity_id].term_ids
    ]
    ends = np.array(links, dtype=np.int64).reshape(-1, 2).T
    n_nodes = len(ids) + len(nodes)
    _, labels = connected_components(coo_array((np.ones(len(links)), ends), (n_nodes, n_nodes)), directed=False)
    groups: dict[int, list[str]] = defaultdict(list)
    for entity_id, label in zip(ids, labels.tolist(), strict=False):
        groups[label].append(entity_id)
    return list(groups.values())
