"""Which mentions and entities a map shows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spacy_pel.errors import PelError
from spacy_pel.types import Document, Entity, MentionInText

from ..errors import StudyErrors

if TYPE_CHECKING:
    from spacy_pel.kb import KnowledgeBase

    from .entity_map import EntityMap


class MapPoints(NamedTuple):
    """The mentions and entities of a map.

    Attributes:
        entities: (m,).
        mentions: (n,).
        owners: (n,), which of the entities each mention means.
        documents: (n,), their ids.
    """

    entities: list[Entity]
    mentions: list[MentionInText]
    owners: list[int]
    documents: list[str]

    def record(self, found: "EntityMap") -> dict[str, Any]:
        """A map as JSON data, with coordinates."""
        places = zip(self.entities, found.entities.tolist(), strict=True)
        entities = [
            {"id": entity.concept_id, "name": entity.canonical_name, "x": x, "y": y} for entity, (x, y) in places
        ]
        rows = zip(self.mentions, self.owners, self.documents, found.mentions.tolist(), strict=True)
        mentions = [
            {
                "doc": document,
                "start": mention.start,
                "end": mention.end,
                "text": mention.surface,
                "id": self.entities[owner].concept_id,
                "x": x,
                "y": y,
            }
            for mention, owner, document, (x, y) in rows
        ]
        metrics = {"stress": found.stress, "nearest_own": found.nearest_own}
        return {**metrics, "entities": entities, "mentions": mentions}


def choose_points(
    kb: "KnowledgeBase",
    documents: Iterable[Document],
    wanted: Sequence[str],
    *,
    n_entities: int,
    max_mentions: int,
    seed: int,
) -> MapPoints:
    """Choose entities and draw their mentions.

    Args:
        kb: has the entities.
        documents: where they are mentioned; mentions with one gold entity count.
        wanted: ids; empty = the ``n_entities`` with the most mentions.
        max_mentions: of an entity.
        seed: random seed.

    Returns:
        Entities in the order wanted, or the most mentioned first.

    Raises:
        PelError: if a wanted entity is not in the KB or has no mention.
    """
    found: dict[str, list[tuple[str, MentionInText]]] = {}
    for document in documents:
        for mention in document.mentions:
            live = {kb.resolve(given) for given in mention.ids}
            if len(live) == 1 and (entity_id := live.pop()) is not None:
                text = MentionInText(document.text, mention.start, mention.end)
                found.setdefault(entity_id, []).append((document.id, text))
    chosen = []
    for given in wanted:
        entity_id = kb.resolve(given)
        if entity_id is None:
            raise PelError(StudyErrors.E652.format(got=f"the knowledge base has no '{given}'"))
        if entity_id not in found:
            raise PelError(StudyErrors.E652.format(got=f"the corpus has no mention of '{given}'"))
        chosen += [entity_id] if entity_id not in chosen else []
    if not wanted:
        counts = Counter({entity_id: len(mentions) for entity_id, mentions in sorted(found.items())})
        chosen = [entity_id for entity_id, _ in counts.most_common(n_entities)]
    if not chosen:
        raise PelError(StudyErrors.E652.format(got="the corpus has none"))
    rng = np.random.default_rng(seed)
    points = MapPoints([kb[entity_id] for entity_id in chosen], [], [], [])
    for owner, entity_id in enumerate(chosen):
        mentions = found[entity_id]
        kept = np.arange(len(mentions))
        if len(mentions) > max_mentions:
            kept = np.sort(rng.choice(len(mentions), max_mentions, replace=False))
        for place in kept.tolist():
            points.documents.append(mentions[place][0])
            points.mentions.append(mentions[place][1])
            points.owners.append(owner)
    return points
