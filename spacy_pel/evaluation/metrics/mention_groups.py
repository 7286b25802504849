"""Metrics by groups of mentions: by label, by the KB's types, by seen and unseen entities."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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


class GroupRow(NamedTuple):
    """Metrics of one group; None where there is no mention to count.

    Attributes:
        name: of the group.
        n, n_nil: number of mentions, and of NIL mentions among them.
        recall_1, recall_all: share of the mentions in the KB whose gold entity is ranked
            first, or is anywhere among the candidates.
        accuracy: of all mentions, with NIL.
    """

    name: str
    n: int
    n_nil: int
    recall_1: float | None
    recall_all: float | None
    accuracy: float | None


def group_rows(outcomes: Outcomes, masks: Mapping[str, Flags]) -> list[GroupRow]:
    """One per group, in the order of the groups."""
    return [_row(name, outcomes, mask) for name, mask in masks.items()]


def _row(name: str, outcomes: Outcomes, mask: Flags) -> GroupRow:
    rank = outcomes.rank[mask & ~outcomes.is_nil]
    return GroupRow(
        name=name,
        n=int(mask.sum()),
        n_nil=int((mask & outcomes.is_nil).sum()),
        recall_1=_share_or_none(rank == 1),
        recall_all=_share_or_none(rank >= 1),
        accuracy=_share_or_none(outcomes.correct[mask]),
    )


def _share_or_none(flags: Flags) -> float | None:
    return float(flags.mean()) if len(flags) else None
