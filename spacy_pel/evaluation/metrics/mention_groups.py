"""Metrics by groups of mentions: by label, by the KB's types, by seen and unseen entities."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..prediction import Prediction
from .outcomes import Flags, Outcomes

NO_NAME = "–"  # of a mention without label, or whose gold entity has no type
GroupsOf = Callable[[Prediction], Sequence[str]]


def by_label(prediction: Prediction) -> Sequence[str]:
    return (prediction.label or NO_NAME,)


def by_kb_type(prediction: Prediction) -> Sequence[str]:
    """A mention counts in each type of its gold entities; NIL mentions have none."""
    return prediction.types or (NO_NAME,)


def by_seen(prediction: Prediction) -> Sequence[str]:
    if not prediction.gold:
        return ("NIL",)
    return ("seen",) if prediction.seen else ("unseen",)


GROUPINGS: Mapping[str, GroupsOf] = {"label": by_label, "type": by_kb_type, "seen": by_seen}


class MentionGroups:
    """Collects the mentions of each group.

    Args:
        groups_of: gives the names of a mention's groups.
    """

    def __init__(self, groups_of: GroupsOf):
        self.groups_of = groups_of
        self._members: dict[str, list[int]] = {}
        self._n = 0

    def add(self, prediction: Prediction) -> None:
        for name in self.groups_of(prediction):
            self._members.setdefault(name, []).append(self._n)
        self._n += 1

    def masks(self) -> dict[str, Flags]:
        """Name -> (n,) members; the largest group first."""
        masks = {}
        for name, members in sorted(self._members.items(), key=lambda item: (-len(item[1]), item[0])):
            masks[name] = np.zeros(self._n, dtype=np.bool_)
            masks[name][members] = True
        return masks


def group_metrics(outcomes: Outcomes, mask: Flags) -> tuple[int, list[float | None]]:
    """Metrics of one group; None where there is no mention to count.

    Returns:
        The number of mentions; recall@1, recall at any rank, and accuracy with NIL.
    """
    rank = outcomes.rank[mask & ~outcomes.is_nil]
    hits = (rank == 1, rank >= 1, outcomes.correct[mask])
    return int(mask.sum()), [float(flags.mean()) if len(flags) else None for flags in hits]
