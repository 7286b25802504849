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
    redirects: dict[str, str] = {}
    for group in find_twins(records):
        keeper, *others = sorted(
            group,
            key=lambda entity_id: (
                entity_id not in base,
                -len(records[entity_id].curated),
                -len(records[entity_id].sources),
                entity_id,
            ),
        )
        for entity_id in (other for other in others if other not in base):
            records[keeper].take_over(records.pop(entity_id))
            redirects[entity_id] = keeper
    return redirects


def find_twins(records: Mapping[str, MergeRecord]) -> list[list[str]]:
    """The groups of twins, each with two ids at least."""
    same_names: dict[frozenset, list[str]] = defaultdict(list)
    for entity_id, record in records.items():
        same_names[frozenset(map(normalize_alias, record.names))].append(entity_id)
    groups = []
    for ids in same_names.values():
        if len(ids) > 1:
            groups += [group for group in _joined(ids, records) if len(group) > 1]
    return groups


def _joined(ids: list[str], records: Mapping[str, MergeRecord]) -> list[list[str]]:
    """The connected parts of the ids, where sharing a source term connects; in nearly linear time."""
    parent = list(range(len(ids)))  # of each id, one of the same part; the last of a part is its own
    last_with: dict[str, int] = {}  # source term -> the last id with it

    def last_of_part(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    for place, entity_id in enumerate(ids):
        for term_id in records[entity_id].term_ids:
            if term_id in last_with:
                parent[last_of_part(last_with[term_id])] = place
            last_with[term_id] = place
    parts: dict[int, list[str]] = defaultdict(list)
    for place, entity_id in enumerate(ids):
        parts[last_of_part(place)].append(entity_id)
    return [parts[place] for place in sorted(parts)]
