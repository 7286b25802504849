"""What an evaluation breaks down: metrics by groups of mentions (label, type of the entity, known and new forms and
entities), and wrong links by their distance in the hierarchy."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any

import numpy as np

from ...kb import KnowledgeBase
from ...types import NIL, Flags
from ..outcomes import Outcomes, Prediction
from .probabilities import RankedAnswers, coverage_intervals, coverages

NO_NAME = "–"  # of a mention without label, or whose gold entity has no type
GroupsOf = Callable[[Prediction], Sequence[str]]


GROUPINGS: Mapping[str, GroupsOf] = {
    "label": lambda prediction: (prediction.label or NO_NAME,),
    "type": lambda prediction: prediction.types or (NO_NAME,),  # a mention counts in each type of its gold entities
    "form": lambda prediction: ("known form" if prediction.known_form else "new form",),
    "seen": lambda prediction: ("NIL" if not prediction.gold else "seen" if prediction.seen else "unseen",),
}


class MentionGroups:
    """Collects the mentions of each group.

    Args:
        groups_of: gives the names of a mention's groups.
    """

    def __init__(self, groups_of: GroupsOf):
        self.groups_of = groups_of
        self._groups: list[Sequence[str]] = []  # of each mention

    def add(self, prediction: Prediction) -> None:
        self._groups.append(self.groups_of(prediction))

    def masks(self) -> dict[str, Flags]:
        """Name -> (n,) members; the largest group first."""
        sizes = Counter(chain.from_iterable(self._groups))
        names = sorted(sizes, key=lambda name: (-sizes[name], name))
        return {name: np.array([name in of_mention for of_mention in self._groups], np.bool_) for name in names}

    def metrics(self, outcomes: Outcomes, *, n_samples: int = 200, seed: int = 0) -> dict[str, dict[str, Any]]:
        """``group_metrics`` of each group, with the intervals of coverage.

        Args:
            outcomes: of the same mentions.
            n_samples: bootstrap samples.
            seed: random seed of the bootstrap.
        """
        groups = {}
        for name, mask in self.masks().items():
            rng = np.random.default_rng(seed)
            answers = RankedAnswers(outcomes.probability[mask], outcomes.correct[mask])
            intervals = coverage_intervals(answers, outcomes.document[mask], n_samples=n_samples, rng=rng)
            groups[name] = {**group_metrics(outcomes, mask), **intervals}
        return groups


def group_metrics(outcomes: Outcomes, mask: Flags) -> dict[str, Any]:
    """Metrics of one group.

    Returns:
        "n"; "recall@1", "recall" at any rank, "accuracy" with NIL, "coverage@95" and "coverage@98"; None where there is
        no mention to count.
    """
    rank = outcomes.rank[mask & ~outcomes.is_nil]
    hits = {"recall@1": rank == 1, "recall": rank >= 1, "accuracy": outcomes.correct[mask]}
    shares = {key: float(flags.mean()) if len(flags) else None for key, flags in hits.items()}
    answers = RankedAnswers(outcomes.probability[mask], outcomes.correct[mask])
    return {"n": int(mask.sum()), **shares, **coverages(answers)}


# of the link to the right entity -> what it means, the nearest first
RELATIONS: Mapping[str, str] = {
    "parent": "one step broader",
    "child": "one step narrower",
    "sibling": "shares a parent",
    "ancestor": "several steps broader",
    "descendant": "several steps narrower",
    "other": "not related",
    "unknown": "one of the two has no is-a relations",
}


class Relations:
    """Finds how each wrong link is related to the right entity (is-a), and counts.

    Args:
        kb: of the linker.
    """

    def __init__(self, kb: KnowledgeBase):
        self._relation_of = cache(partial(_relation, kb))
        self._counts: Counter[str] = Counter()

    def add(self, prediction: Prediction) -> None:
        """Set ``relation`` of a wrong link of a mention whose entity is in the KB: to the nearest one, if there are
        several gold entities."""
        answer, gold = prediction.kb_id, prediction.gold
        if answer in ("", NIL) or not gold or answer in gold:
            return
        relations = {self._relation_of(answer, entity_id) for entity_id in gold}
        prediction.relation = next(relation for relation in RELATIONS if relation in relations)
        self._counts[prediction.relation] += 1

    def metrics(self) -> dict[str, Any]:
        """ "n_wrong_links", and shares of them: "wrong_links_parent" and so on, for each of ``RELATIONS``; None if
        there is no wrong link."""
        n = self._counts.total()
        shares = {f"wrong_links_{name}": self._counts[name] / n if n else None for name in RELATIONS}
        return {"n_wrong_links": n, **shares}


def _relation(kb: KnowledgeBase, answer: str, gold: str) -> str:
    parents, children = (set(kb.parents(gold)), set(kb.parents(answer))), (kb.children(gold), kb.children(answer))
    if answer in parents[0]:
        return "parent"
    if gold in parents[1]:
        return "child"
    if not all(above or below for above, below in zip(parents, children, strict=True)):
        return "unknown"
    if not parents[0].isdisjoint(parents[1]):
        return "sibling"
    if answer in kb.ancestors(gold):
        return "ancestor"
    return "descendant" if gold in kb.ancestors(answer) else "other"
