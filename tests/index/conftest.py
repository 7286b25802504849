import numpy as np
import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Document, Entity, Mention

SYLLABLES = ["car", "di", "o", "neu", "ro", "path", "y", "gen", "ic", "hep", "at", "itis", "my", "al", "gia"]


def make_name(rng):
    return "".join(rng.choice(SYLLABLES, size=rng.integers(2, 5)))


@pytest.fixture
def encoder():
    return HashEmbed(width=64)


@pytest.fixture
def kb():
    rng = np.random.default_rng(0)
    entities = [
        Entity(f"C{i}", make_name(rng), tuple(make_name(rng) for _ in range(i % 3)), (f"T{i % 2}",)) for i in range(60)
    ]
    entities += [
        Entity("C90", "common cold", ("cold", "Cold"), ("T0",)),
        Entity("C91", "cold temperature", ("cold",), ("T1",)),
        Entity("C92", "chronic lung disease", ("COLD",), ("T0",)),
    ]
    return KnowledgeBase(entities)


@pytest.fixture
def documents(kb):
    """Texts that name entities by their names, by each other's, and by ids that the KB lacks."""
    rng = np.random.default_rng(1)
    documents = []
    for number in range(12):
        text, mentions = "In patients with", []
        for _ in range(5):
            entity = kb.entity_at(int(rng.integers(0, kb.n_rows)))
            names = [entity.canonical_name, *entity.aliases]
            surface = "cold" if rng.random() < 0.3 else str(rng.choice(names))
            ids = [entity.concept_id, "C1"] if rng.random() < 0.2 else [entity.concept_id]
            start = len(text) + 1
            text = f"{text} {surface}"
            mentions.append(Mention(start, len(text), ids=tuple(ids)))
        mentions += [Mention(0, 2), Mention(3, 11, ids=("unknown",))]
        documents.append(Document(f"d{number}", text, mentions))
    return documents
