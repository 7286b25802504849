"""Wrong links by their distance in the hierarchy: is the link a parent, a child or a sibling of the right entity?"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...kb import KnowledgeBase
from ...types import NIL
from ..outcomes import Prediction

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
        self._kb = kb
        self._known: dict[tuple[str, str], str] = {}
        self._counts: Counter[str] = Counter()

    def add(self, prediction: Prediction) -> None:
        """Set ``relation`` of a wrong link of a mention whose entity is in the KB: to the nearest one, if there are
        several gold entities."""
        answer, gold = prediction.kb_id, prediction.gold
        if answer in ("", NIL) or not gold or answer in gold:
            return
        found = {self._of_pair(answer, entity_id) for entity_id in gold}
        prediction.relation = next(relation for relation in RELATIONS if relation in found)
        self._counts[prediction.relation] += 1

    def metrics(self) -> dict[str, Any]:
        """ "n_wrong_links", and shares of them: "wrong_links_parent" and so on, for each of ``RELATIONS``; None if
        there is no wrong link."""
        n = self._counts.total()
        shares = {f"wrong_links_{name}": self._counts[name] / n if n else None for name in RELATIONS}
        return {"n_wrong_links": n, **shares}

    def _of_pair(self, answer: str, gold: str) -> str:
        if (answer, gold) not in self._known:
            self._known[answer, gold] = self._look_up(answer, gold)
        return self._known[answer, gold]

    def _look_up(self, answer: str, gold: str) -> str:
        kb = self._kb
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
