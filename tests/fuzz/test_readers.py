"""Readers on input that nobody wrote by hand: damaged files, and JSON of any shape and type.

Each example is either refused with one line that names the file, or gives valid documents or entities. They
are the same in every run. Many more of them: ``python -m benchmarks.attack``.
"""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.attack.readers import check_documents, check_entities, reader_attacks
from benchmarks.attack.runner import FAILURES, verdict_of
from spacy_pel.corpora.formats.bioc import BiocCorpus
from spacy_pel.corpora.formats.jsonl import JsonlCorpus
from spacy_pel.errors import PelError
from spacy_pel.kb.readers.jsonl_kb import JsonlKB
from spacy_pel.kb.readers.obo_kb import OboKB
from spacy_pel.training.corpora.st21pv_corpus import St21pvCorpus

pytestmark = pytest.mark.slow

ATTACKS = {attack.name: attack for attack in reader_attacks()}
SLOW = {"corpus-docbin"}  # a vocabulary for each
few = settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
TEXT = st.text(max_size=8) | st.sampled_from(["fever", "", "C1", "\ud800", "\x00", "HP:1"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)


def shaped(**fields):
    """Objects with these keys, where any value may be of any type and any key may be missing."""
    return st.fixed_dictionaries({}, optional={key: value | VALUE for key, value in fields.items()})


NUMBER = st.integers(-2, 9)
TEXTS = st.lists(TEXT, max_size=2)
MENTION = shaped(start=NUMBER, end=NUMBER, label=TEXT, ids=TEXTS, text=TEXT, composite=st.booleans())
DOCUMENT = shaped(id=TEXT, text=TEXT, mentions=st.lists(MENTION, max_size=2), meta=VALUE)
ANNOTATION = shaped(
    text=TEXT, infons=shaped(identifier=TEXT, type=TEXT), locations=st.lists(shaped(offset=NUMBER, length=NUMBER))
)
PASSAGE = shaped(offset=NUMBER, text=TEXT, annotations=st.lists(ANNOTATION, max_size=2))
BIOC = shaped(id=TEXT, passages=st.lists(PASSAGE, max_size=2))
TOKENS = shaped(start=NUMBER, end=NUMBER, cui=TEXT, text=TEXT)
SENTENCE = shaped(tokens=TEXTS, mentions=st.lists(TOKENS, max_size=2))
ENTITY = shaped(concept_id=TEXT, canonical_name=TEXT, aliases=TEXTS, types=TEXTS, definition=TEXT)
TERM = shaped(id=TEXT, name=TEXT, synonyms=TEXTS, xrefs=st.lists(shaped(namespace=TEXT, id=TEXT), max_size=2))
META = shaped(synonyms=st.lists(shaped(val=TEXT, pred=TEXT), max_size=2), definition=shaped(val=TEXT))
NODE = shaped(id=TEXT, lbl=TEXT, meta=META)
GRAPHS = shaped(graphs=st.lists(shaped(nodes=st.lists(NODE, max_size=2)), max_size=2))


def refused_or(check, path):
    try:
        check()
    except PelError as err:
        assert path.name in str(err) and str(err).isprintable() and len(str(err)) <= 1000
        assert "[PEL-E012]" not in str(err)  # each is found by a check of its own, not by the net below


def documents(reader, path):
    refused_or(lambda: check_documents(reader([path])), path)


def entities(reader, path):
    refused_or(lambda: check_entities(reader([path]), reader.redirects, path.with_name("none")), path)


CASES = {
    "jsonl": (JsonlCorpus, documents, DOCUMENT, "x.jsonl"),
    "bioc": (BiocCorpus, documents, BIOC, "x.json"),
    "st21pv": (St21pvCorpus, documents, shaped(pmid=TEXT, sentences=st.lists(SENTENCE, max_size=2)), "x.jsonl"),
    "kb": (JsonlKB, entities, ENTITY, "x.jsonl"),
    "graphs": (OboKB, entities, GRAPHS, "x.json"),
    "terms": (OboKB, entities, st.lists(TERM, max_size=3), "x.json"),
}


@pytest.mark.parametrize("name", CASES)
def test_json_of_any_type(tmp_path, name):
    make, read, shape, file = CASES[name]

    @few
    @given(shape)
    def check(record):
        (tmp_path / file).write_text(json.dumps(record) + "\n")
        read(make(), tmp_path / file)

    check()


@pytest.mark.parametrize("name", sorted(ATTACKS.keys() - SLOW))
def test_damaged_files(tmp_path, name):
    ATTACKS[name].prepare(tmp_path)

    @settings(few, max_examples=4)
    @given(st.integers(0, 2**32))
    def check(number):
        verdict, text = verdict_of(ATTACKS[name], 0, number, tmp_path)
        assert verdict not in FAILURES, text

    check()
