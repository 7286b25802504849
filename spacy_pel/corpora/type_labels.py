"""Semantic types as labels of mentions, which a detector learns."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..kb import KnowledgeBase
from ..types import Document, Mention
from ..types.semantic_types import st21pv_label


class TypeLabels:
    """Labels each mention with its semantic type, one of the 21 of MedMentions ST21pv (``ST21PV``).

    A corpus that annotates types ("T038", or "T116,T123") has the last word; otherwise the types of the mention's
    entity count. A mention of unknown type gets the label "": a detector does not learn from it, see ``MentionJsonl``.

    Args:
        kb: its entities have types of the UMLS Semantic Network.

    Attributes:
        report: counts mentions: "typed_by_corpus", "typed_by_entity" and "without_type".
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self._kb = kb
        self._labels: dict[tuple[str, ...], str] = {}  # by ids
        self.report = dict.fromkeys(("typed_by_corpus", "typed_by_entity", "without_type"), 0)

    def __call__(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Label the mentions of documents, which are not changed."""
        for document in documents:
            yield replace(document, mentions=list(map(self._labelled, document.mentions)))

    def _labelled(self, mention: Mention) -> Mention:
        label = st21pv_label(mention.label.split(","))
        found = "typed_by_corpus" if label else "typed_by_entity"
        label = label or self._label_of(mention.ids)
        self.report[found if label else "without_type"] += 1
        return replace(mention, label=label)

    def _label_of(self, ids: tuple[str, ...]) -> str:
        if ids not in self._labels:
            known = (self._kb[entity_id] for entity_id in ids if entity_id in self._kb)
            self._labels[ids] = st21pv_label(kind for entity in known for kind in entity.types)
        return self._labels[ids]
