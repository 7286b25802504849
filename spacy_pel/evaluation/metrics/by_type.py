"""Mentions in groups: by label, by the KB's types, by what the training corpus holds."""

from typing import Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from ..prediction import Prediction
from .outcomes import Outcomes

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


class Groups:
    """Collects which mentions are in which group.

    groups_of (GroupsOf): the names of a mention's groups.
    """

    def __init__(self, groups_of: GroupsOf):
        self.groups_of = groups_of
        self._members: Dict[str, List[int]] = {}
        self._n = 0

    def add(self, prediction: Prediction) -> None:
        for name in self.groups_of(prediction):
            self._members.setdefault(name, []).append(self._n)
        self._n += 1

    def masks(self) -> Dict[str, NDArray[np.bool_]]:
        """RETURNS (Dict[str, NDArray[bool]]): name -> (n,) members; the largest group first."""
        masks = {}
        for name, members in sorted(self._members.items(), key=lambda item: (-len(item[1]), item[0])):
            masks[name] = np.zeros(self._n, dtype=np.bool_)
            masks[name][members] = True
        return masks


class TypeRow(NamedTuple):
    """The figures of one group; a share of nothing is None.

    name (str): of the group.
    n, n_nil (int): mentions, and the NIL ones among them.
    recall_1, recall_all (Optional[float]): of the mentions in the KB: gold entity first, or anywhere
        among the candidates.
    accuracy (Optional[float]): of all, with NIL.
    """

    name: str
    n: int
    n_nil: int
    recall_1: Optional[float]
    recall_all: Optional[float]
    accuracy: Optional[float]


def type_table(outcomes: Outcomes, masks: Mapping[str, NDArray[np.bool_]]) -> List[TypeRow]:
    """RETURNS (List[TypeRow]): a row per group, in the groups' order."""
    return [_row(name, outcomes, mask) for name, mask in masks.items()]


def _row(name: str, outcomes: Outcomes, mask: NDArray[np.bool_]) -> TypeRow:
    rank = outcomes.rank[mask & ~outcomes.is_nil]
    return TypeRow(
        name=name,
        n=int(mask.sum()),
        n_nil=int((mask & outcomes.is_nil).sum()),
        recall_1=_share(rank == 1),
        recall_all=_share(rank >= 1),
        accuracy=_share(outcomes.correct[mask]),
    )


def _share(flags: NDArray[np.bool_]) -> Optional[float]:
    return float(flags.mean()) if len(flags) else None
