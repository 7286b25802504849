"""Statistics of a corpus: mentions, entities, ambiguity, types, and the distribution of mentions over
entities (Le & Nguyen 2023, Fig. 3)."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...evaluation.metrics.groups import NO_NAME
from ...types import Document
from ...util import normalize_alias

if TYPE_CHECKING:
    from ...kb import KnowledgeBase


def corpus_facts(documents: Iterable[Document], kb: "KnowledgeBase | None" = None) -> dict[str, Any]:
    """Count the mentions, entities and types of a corpus.

    Args:
        documents: with gold mentions.
        kb: resolves retired ids and gives types.

    Returns:
        As JSON data. "surfaces" are normalised surface forms; one is ambiguous if it
        has several entities (sets of ids) in the corpus, NIL aside. "mentions_per_entity" and
        "mentions_per_entity_and_document" count those with 1, 2, ... mentions. With a KB: "in_kb" (mentions
        with an id of the KB), "outside_kb" (mentions whose ids all are missing from it) and "types" of the
        entities.
    """
    counts = Counter(documents=0, mentions=0, nil=0, composite=0, several_ids=0)
    labels: Counter[str] = Counter()
    types: Counter[str] = Counter()
    meanings: dict[str, Counter[tuple[str, ...]]] = {}
    of_entity: Counter[str] = Counter()
    of_pair: Counter[tuple[str, int]] = Counter()
    for number, document in enumerate(documents):
        counts["documents"] += 1
        for mention in document.mentions:
            counts["mentions"] += 1
            labels[mention.label or NO_NAME] += 1
            if not mention.ids:
                counts["nil"] += 1
                continue
            counts["composite"] += mention.composite
            counts["several_ids"] += len(mention.ids) > 1
            ids = set(mention.ids) if kb is None else {kb.resolve(given) or given for given in mention.ids}
            known = [entity_id for entity_id in ids if kb is not None and entity_id in kb]
            counts["in_kb"] += bool(known)
            surface = normalize_alias(document.text[mention.start : mention.end])
            meanings.setdefault(surface, Counter())[tuple(sorted(ids))] += 1
            if kb is not None:
                types.update({name for entity_id in known for name in kb[entity_id].types} or {NO_NAME})
            for entity_id in ids:
                of_entity[entity_id] += 1
                of_pair[entity_id, number] += 1
    ambiguous = [found for found in meanings.values() if len(found) > 1]
    linked = counts["mentions"] - counts["nil"]
    facts: dict[str, Any] = {
        **{key: counts[key] for key in ("documents", "mentions", "nil", "composite", "several_ids")},
        "entities": len(of_entity),
        "surfaces": len(meanings),
        "ambiguous_surfaces": len(ambiguous),
        "mentions_of_ambiguous_surfaces": sum(sum(found.values()) for found in ambiguous),
    }
    if kb is not None:
        facts["in_kb"] = counts["in_kb"]
        facts["outside_kb"] = linked - counts["in_kb"]
        facts["share_in_kb"] = counts["in_kb"] / linked if linked else None
        facts["entities_in_kb"] = sum(kb.resolve(entity_id) is not None for entity_id in of_entity)
        facts["types"] = dict(types.most_common())
    facts["labels"] = dict(labels.most_common())
    facts["mentions_per_entity"] = _histogram(of_entity.values())
    facts["mentions_per_entity_and_document"] = _histogram(of_pair.values())
    return facts


def _histogram(values: Iterable[int]) -> dict[str, int]:
    return {str(size): count for size, count in sorted(Counter(values).items())}
