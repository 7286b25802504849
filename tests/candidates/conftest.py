import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_flat import FaissFlat
from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity, MentionInText

ENTITIES = [
    Entity("C0", "Heart attack", ("Myocardial infarction", "MI"), ("T0",)),
    Entity("C1", "Heart failure", ("Cardiac failure",), ("T0",)),
    Entity("C2", "Kidney failure", ("Renal failure", "failure of the kidney"), ("T1",)),
    Entity("C3", "Kidney stone", ("Nephrolithiasis",), ("T1",)),
    Entity("C4", "Common cold", ("Cold",), ("T0",)),
    Entity("C5", "Cold temperature", ("cold",), ("T1",)),
    Entity("C6", "Chronic lung disease", ("COLD", "lung-disease, chronic"), ("T0",)),
    Entity("C7", "Aspirin", ("acetylsalicylic acid", "2-acetoxybenzoic acid"), ("T1",)),
    Entity("C8", "Salicylic acid", (), ("T1",)),
    Entity("C9", "It", ("+", "++"), ("T1",)),
    *(Entity(f"D{i}", f"factor {i} of kidney", (f"renal factor {i}",), ("T1",)) for i in range(30)),
]


@pytest.fixture
def kb():
    return KnowledgeBase(ENTITIES)


@pytest.fixture(scope="session")
def encoder():
    return HashEmbed(width=64)


@pytest.fixture
def make_index(encoder):
    """Builds the index that a generator with needs_encoder is bound to."""
    return lambda kb: EntityIndex.build(kb, encoder, index=FaissFlat())


def mentions_of(*surfaces):
    """Each surface in a sentence of its own."""
    return [MentionInText(f"We saw {one} there.", 7, 7 + len(one)) for one in surfaces]


def found(kb, table):
    """The ids of each mention's candidates."""
    ids = kb.ids_at(table.kb_rows)
    return [ids[a:b] for a, b in zip(table.offsets[:-1], table.offsets[1:], strict=True)]
