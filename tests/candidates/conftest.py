import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
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
    return lambda kb: EntityIndex.build(kb, encoder, index=FaissIVF())


def mentions_of(*surfaces):
    """Each surface in a sentence of its own."""
    return [MentionInText(f"We saw {one} there.", 7, 7 + len(one)) for one in surfaces]


def found(kb, table):
    """The ids of each mention's candidates."""
    return [kb.ids_at(rows[rows >= 0]) for rows in table.kb_rows]


def values_of(table, feature):
    """For each mention the candidates' rows, in order, and their values."""
    rows_and_values = zip(table.kb_rows, table.features[feature], table.filled, strict=True)
    return [dict(zip(rows[filled].tolist(), of[filled].tolist(), strict=True)) for rows, of, filled in rows_and_values]
