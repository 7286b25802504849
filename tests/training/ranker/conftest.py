"""A retriever that cannot tell two senses of a name apart, and texts in which a ranker can."""

import numpy as np
import pytest
from linking.annotated import hashed_linker
from linking.tables import NearestRow
from thinc.api import Config

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.evaluation.predict import gold_queries
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker, Reranker
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.linking.reranker import load_ranker
from spacy_pel.training.ranker.loop import RankTrainer
from spacy_pel.training.ranker.settings import read_rank_settings
from spacy_pel.types import Document, Entity, Mention

NAMES = ("cold", "gout", "rash", "clot")
CUES = ("xxxx", "qqqq")


def make_sense_documents(n, first=0):
    """Each document names one concept; the word before it tells the sense."""
    documents = []
    for i in range(first, first + n):
        name = NAMES[i % len(NAMES)]
        sense = (i // len(NAMES)) % 2
        text = f"{CUES[sense]} {name} no {i}"
        documents.append(Document(f"d{i}", text, [Mention(5, 5 + len(name), "", (f"{name}-{sense}",))]))
    return documents


def linker_of(kb):
    """Over the cards and names of a knowledge base."""
    return hashed_linker(kb, NearestRow(), NetworkNil(), encoder=HashEmbed(width=64, context_weight=0.0))


@pytest.fixture(scope="session")
def retriever():
    """Over names, each shared by two entities."""
    entities = [Entity(f"{name}-{sense}", name, (), (cue,)) for name in NAMES for sense, cue in enumerate(CUES)]
    return linker_of(KnowledgeBase(entities))


def train_ranker(config, values, linker, output, resume=False, trainer=RankTrainer, **changes):
    """Train a config with these values and changes."""
    changed = output.with_suffix(".cfg")
    given = {**values, **{name.replace("__", "."): value for name, value in changes.items()}}
    changed.write_text(with_values(config.read_text(), given))
    made = trainer(read_rank_settings(changed), output, linker=linker, queries=gold_queries)
    return made.run(resume=resume)


def accuracies(linker, ranker, documents):
    """Shares of the mentions that a linker links correctly, without and with a saved ranker."""
    parts = (linker.kb, linker.encoder, linker.index, linker.decider.combiner, linker.decider.nil_model)
    queries = [query for document in documents for query in gold_queries(document)]
    gold = [mention.ids[0] for document in documents for mention in document.mentions]
    return tuple(
        np.mean([link.kb_id == right for link, right in zip(one.link(queries), gold, strict=True)])
        for one in (linker, Linker(*parts, reranker=Reranker(load_ranker(ranker, top_k=2))))
    )


def with_values(config, values):
    """A config may lack sections that have defaults, and overrides only reach sections that are there."""
    filled = Config().from_str(config)
    for name, value in values.items():
        section, keys = filled, name.split(".")
        for key in keys[:-1]:
            section = section.setdefault(key, {})
        section[keys[-1]] = value
    return filled.to_str()
