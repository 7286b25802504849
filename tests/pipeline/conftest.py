import pickle
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_pel.kb import KnowledgeBase
from spacy_pel.types import Entity

ENTITIES = [
    Entity("C01", "Myocardial infarction", ("heart attack", "MI"), ("T047",), xrefs=("MESH:D009203", "ICD10:I21")),
    Entity("C02", "Aspirin", ("acetylsalicylic acid",), ("T121",)),
    Entity("C03", "Headache", ("cephalalgia",), ("T184",)),
    Entity("C04", "Cold temperature", ("cold",), ("T070",)),
    Entity("C05", "Common cold", ("cold",), ("T047",)),
    Entity("C06", "Diabetes mellitus", (), ("T047",), "A disorder of blood sugar."),
    Entity("C07", "Huntington disease", ("chorea",), ("T047",)),
    Entity("C08", "Hemodialysis", ("HD",), ("T061",)),
    Entity("C09", "Heart", ("قلب",), ("T023",)),
    Entity("C10", "DNA", ("🧬",), ("T114",)),
]
PHRASES = [
    ("DISEASE", "heart attack"),
    ("CHEMICAL", "Aspirin"),
    ("DISEASE", "headache"),
    ("DISEASE", "cold"),
    ("DISEASE", "Huntington disease"),
    ("DISEASE", "HD"),
    ("OTHER", "zzyzx"),
]
# token patterns: spaCy's entity ruler loses phrases in from_bytes
PATTERNS = [{"label": label, "pattern": [{"ORTH": word} for word in phrase.split()]} for label, phrase in PHRASES]
TEXTS = [
    "Aspirin after a heart attack relieves headache.",
    "",
    "cold",
    "Nothing here.",
    "Aspirin for a cold, and zzyzx for Huntington disease.",
]
# the parts that need no weights and no fitting; given so that a test does not depend on defaults
PLAIN: dict[str, Any] = {
    "encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1", "width": 64},
    "combiner": {"@pel_combiners": "spacy-pel.LinearCombiner.v1"},
    "nil_model": {"@pel_nil": "spacy-pel.NetworkNil.v1"},
}
NAME = "proxy_entity_linker"


@pytest.fixture(scope="session")
def kb_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("pipeline") / "kb"
    KnowledgeBase.build(ENTITIES, path)
    return path


@pytest.fixture(scope="session")
def make_nlp(kb_path):
    """A pipeline with an entity ruler and an initialised linker; settings as keywords."""

    def make(ruler: bool = True, **config: Any) -> Language:
        nlp = spacy.blank("en")
        if ruler:
            nlp.add_pipe("entity_ruler").add_patterns(PATTERNS)
        nlp.add_pipe(NAME, config={**PLAIN, **config})
        load = {"@misc": "spacy-pel.KBFromDisk.v1", "path": str(kb_path)}
        nlp.config["initialize"]["components"][NAME] = {"kb_loader": load}
        linker = nlp.get_pipe(NAME)
        # nlp.initialize() would empty the entity ruler
        linker.initialize(lambda: [], nlp=nlp, kb_loader=lambda: KnowledgeBase.from_disk(kb_path))
        return nlp

    return make


@pytest.fixture
def nlp(make_nlp):
    return make_nlp()


@pytest.fixture
def linker(nlp):
    return nlp.get_pipe(NAME)


def make_doc(nlp: Language, *words: Any) -> Doc:
    """A document of words; a pair (words, label) is an entity. Every word is followed by a blank."""
    tokens, ents = [], []
    for word in words:
        if isinstance(word, tuple):
            parts = word[0].split(" ") if word[0].strip() else [word[0]]
            ents.append((len(tokens), len(tokens) + len(parts), word[1]))
            tokens += parts
        else:
            tokens.append(word)
    doc = Doc(nlp.vocab, words=tokens)
    doc.ents = [Span(doc, start, end, label=label) for start, end, label in ents]
    return doc


def links(doc: Doc):
    """Everything that the component writes, comparable: scores are rounded, as sums of floats in
    another order differ in the last digits."""
    return [
        (
            ent.text,
            ent.label_,
            ent.kb_id_,
            [(candidate[0], round(candidate[1], 4)) for candidate in ent._.pel_candidates],
            None if ent._.pel_nil_score is None else round(ent._.pel_nil_score, 4),
            None if ent._.pel_probability is None else round(ent._.pel_probability, 4),
            ent._.pel_set,
            ent._.pel_types,
            ent._.pel_xrefs,
        )
        for ent in doc.ents
    ]


def found(nlp: Language, texts=TEXTS):
    """The links of all texts."""
    return [links(doc) for doc in nlp.pipe(texts)]


def copies(nlp: Language, path):
    """The pipeline from the disk, from bytes and from a pickle."""
    nlp.to_disk(path)
    of_bytes = spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())
    return spacy.load(path), of_bytes, pickle.loads(pickle.dumps(nlp))
