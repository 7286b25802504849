"""What may be meant by an id that a knowledge base lacks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .knowledge_base import KnowledgeBase

_N_NAMED = 3
_CUTOFF = 0.7  # similarity: "HP:118" finds HP:0000118


def did_you_mean_id(kb: "KnowledgeBase", text: str) -> str:
    """A question to append to a clause about an unknown id: the entities with that name or code, ids spelled
    like it, or names that contain it; empty if there are none."""
    from rapidfuzz import process
    from rapidfuzz.distance import Indel

    ids = (kb.ids(text) or kb.ids_of_xref(text))[:_N_NAMED]
    if not ids:
        similarity = Indel.normalized_similarity
        matches = process.extract(
            text, list(kb), scorer=similarity, processor=str.casefold, limit=_N_NAMED, score_cutoff=_CUTOFF
        )
        ids = [entity_id for entity_id, _, _ in matches] or [entity_id for entity_id, _ in kb.search(text, _N_NAMED)]
    named = [f"'{entity_id}', {kb[entity_id].canonical_name}" for entity_id in ids]
    return f" (did you mean {'; '.join(named)}?)" if named else ""
