"""The tiny pipeline of the commands, and one with a transformer, whose tokenizer threads cannot share."""

import pytest
import spacy
from cli.conftest import ENTITIES, NAMES, UNKNOWN, folder  # noqa: F401

from spacy_pel import KnowledgeBase


@pytest.fixture(scope="session")
def bert_pipeline(tiny_bert, tmp_path_factory):
    """The folder of a pipeline with a random bi-encoder."""
    path = tmp_path_factory.mktemp("engines") / "pipeline"
    nlp = spacy.blank("en")
    patterns = [{"label": "ENTITY", "pattern": name} for name in NAMES + UNKNOWN]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    encoder = {"@pel_encoders": "spacy-pel.BiEncoder.v1", "name": str(tiny_bert)}
    linker = nlp.add_pipe("proxy_entity_linker", config={"encoder": encoder})
    linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase(ENTITIES))
    nlp.to_disk(path)
    return path
