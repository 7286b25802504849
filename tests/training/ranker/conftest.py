"""A retriever that cannot tell two senses of a name apart, and texts in which a ranker can."""

import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_flat import FaissFlat
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker
from spacy_pel.linking.combiners import BestRow
from spacy_pel.linking.nil import ScoreThreshold
from spacy_pel.types import Document, Entity, Mention

NAMES = ("cold", "gout", "rash", "clot")
CUES = ("xxxx", "qqqq")


def make_sense_entities():
    return [Entity(f"{name}-{sense}", name, (), (cue,)) for name in NAMES for sense, cue in enumerate(CUES)]


def make_sense_documents(n, first=0):
    """Each document names one concept; the word before it tells the sense."""
    documents = []
    for i in range(first, first + n):
        name = NAMES[i % len(NAMES)]
        sense = (i // len(NAMES)) % 2
        text = f"{CUES[sense]} {name} no {i}"
        documents.append(Document(f"d{i}", text, [Mention(5, 5 + len(name), "", (f"{name}-{sense}",))]))
    return documents


def make_sense_linker():
    """Over names, each shared by two entities."""
    return linker_of(KnowledgeBase(make_sense_entities()))


def linker_of(kb):
    """Over the cards and names of a knowledge base."""
    encoder = HashEmbed(width=64, context_weight=0.0)
    index = EntityIndex.build(kb, encoder, index=FaissFlat())
    return Linker(kb, encoder, index, BestRow(), ScoreThreshold())


@pytest.fixture(scope="session")
def retriever():
    return make_sense_linker()
