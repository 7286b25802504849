"""Which mentions the benchmark of bare head nouns takes for bare."""

from pathlib import Path

import pytest

from benchmarks.head_nouns import NAMED, REST, UNNAMED, kinds_of
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention

TEXT = "Vitamin D deficiency is common. The deficiency causes bone lesions; lesions heal. Gout does not."
IDS = {
    "Vitamin D deficiency": "C1",
    "deficiency causes": "C1",
    "bone lesions": "C2",
    "lesions heal": "C2",
    "Gout": "C3",
}


def a_document() -> Document:
    """Mentions of "deficiency" and of "lesions", after longer ones, and of "gout"."""
    mentions = []
    for text, concept in IDS.items():
        start = TEXT.index(text)
        short = text.removesuffix(" causes").removesuffix(" heal")
        mentions.append(Mention(start, start + len(short), ids=(concept,)))
    return Document("d", TEXT, mentions)


@pytest.fixture
def a_kb(tmp_path: Path) -> KnowledgeBase:
    entities = [
        Entity("C1", "vitamin D deficiency"),
        Entity("C2", "bone lesion", aliases=["lesions"]),
        Entity("C3", "gout"),
        Entity("C4", "deficiency"),
    ]
    return KnowledgeBase.build(entities, tmp_path / "kb")


def test_bare_mentions_are_told_from_others(a_kb):
    assert kinds_of(a_document(), a_kb) == [REST, UNNAMED, REST, NAMED, REST]


def test_a_word_is_bare_in_its_own_text_alone(a_kb):
    assert kinds_of(Document("d", TEXT, a_document().mentions[1:2]), a_kb) == [REST]
