"""Old results with the ids of a later knowledge base."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..types import NIL
from .knowledge_base import KnowledgeBase

_KEYS = ("ids", "kb_id", "gold", "id_set", "candidates")  # of a mention


class Migration:
    """Replaces retired ids in linked documents, or in lines of predictions.jsonl, by their successors.

    Args:
        old: the one of the ids; its redirects count where the new one does not know an id.
        new: the one to use.
    """

    def __init__(self, old: KnowledgeBase, new: KnowledgeBase):
        self.old, self.new = old, new
        self.n_documents = self.n_mentions = self.n_changed = 0
        self.replaced: dict[str, str] = {}  # by their successors
        self.retired: Counter[str] = Counter()  # mentions with an id that has no successor ...
        self.unknown: Counter[str] = Counter()  # or that neither knowledge base has
        self._successors: dict[str, str | None] = {}

    def __call__(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The records, changed in place. An id without a successor stays."""
        for record in records:
            self.n_documents += 1
            for mention in record.get("mentions", [record]):
                self._migrate(mention)
            yield record

    def _migrate(self, mention: dict[str, Any]) -> None:
        before = {key: mention[key] for key in _KEYS if mention.get(key)}
        after = {key: self._value(value) for key, value in before.items()}
        self.n_mentions += 1
        self.n_changed += after != before
        mention.update(after)
        if after.get("kb_id") != before.get("kb_id"):
            if mention.get("name"):
                mention["name"] = self.new[after["kb_id"]].canonical_name
            if codes := mention.get("codes"):
                mention["codes"] = {name: self.new.codes(after["kb_id"], name) for name in codes}
        for entity_id in {entity_id for value in after.values() for entity_id in _ids(value)}:
            if self._successors.get(entity_id, entity_id) is None:
                known = self.old.resolve(entity_id) or self.old.is_retired(entity_id) or self.new.is_retired(entity_id)
                (self.retired if known else self.unknown)[entity_id] += 1

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._successor(value)
        distinct: dict[str, Any] = {}
        for item in value:  # an id, or a candidate with its score
            successor = self._successor(*_ids([item]))
            distinct.setdefault(successor, successor if isinstance(item, str) else [successor, *item[1:]])
        return list(distinct.values())

    def _successor(self, entity_id: str) -> str:
        if entity_id == NIL:
            return NIL
        if entity_id not in self._successors:
            successor = self.new.resolve(entity_id)
            if successor is None and (known := self.old.resolve(entity_id)) is not None:
                successor = self.new.resolve(known)
            self._successors[entity_id] = successor
            if successor not in (None, entity_id):
                self.replaced[entity_id] = str(successor)
        return self._successors[entity_id] or entity_id


def _ids(value: Any) -> list[str]:
    """The ids in a value of a mention."""
    return [item if isinstance(item, str) else item[0] for item in ([value] if isinstance(value, str) else value)]
