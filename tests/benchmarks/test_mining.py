"""The part of a knowledge base that the benchmark of mining takes."""

from benchmarks.mining import part_of
from spacy_pel.kb import KnowledgeBase
from spacy_pel.training.retriever.examples import linked_mentions
from spacy_pel.types import Document, Entity, Mention

ENTITIES = [Entity(f"C{i}", f"name {i}") for i in range(60)]
DOCUMENTS = [
    Document(f"d{i}", f"name {i * 2} here", [Mention(0, len(f"name {i * 2}"), "", (f"C{i * 2}", "C59"))])
    for i in range(20)
]


def test_parts_keep_the_gold_entities():
    kb = KnowledgeBase(ENTITIES)
    kb.retire(["C1"])
    mentions = linked_mentions(kb, DOCUMENTS)
    part, chosen = part_of(kb, mentions, 25, 8)
    assert len(part) == 25 and len(chosen) == 8
    for mention in chosen:
        assert part.ids_at(part.live_rows[mention.entities]) == list(mention.ids)
    assert len(part_of(kb, mentions, 5, 8)[0]) == 9, "as many as the mentions need"
    assert part_of(kb, mentions, 1000, 8)[0] is kb
