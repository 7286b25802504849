"""Topics: shares against a loop over texts, on disk, with texts left out, and in the linker."""

import pickle

import numpy as np
import pytest

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.annotated_text import TEMPERATURE, UNKNOWN, Topics
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker, MentionQuery, replace_mention
from spacy_pel.linking.combiner import LinearCombiner, linear_features
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.types import TOPIC, Document, Entity, Mention

KB = KnowledgeBase([Entity("V", "cold"), Entity("T", "cold temperature", ("cold",)), Entity("F", "fever")])
VIRUS, WEATHER = "cough and runny nose of a virus", "snow and ice in the winter weather"


class ReadsTexts(HashEmbed):
    """Counts the texts that it reads."""

    def __init__(self, width=128):
        super().__init__(width=width)
        self.texts = []

    def encode_texts(self, texts, *, show_progress=False):
        self.texts += texts
        return self.encode_names(texts)


def document(number, text, mentions):
    found = []
    for name, ids in mentions:
        text += f" {name}"
        found.append(Mention(len(text) - len(name), len(text), "", ids))
    return Document(f"d{number}", text, found)


@pytest.fixture
def documents():
    return [
        document(0, VIRUS, [("cold", ("V",)), ("fever", ("F",)), ("cold", ("V",))]),
        document(1, WEATHER, [("cold", ("T",)), ("unknown", ("X",))]),
        document(2, "nothing in it", [("unknown", ())]),
        document(3, f"{WEATHER} again", [("cold", ("T", "V"))]),
    ]


@pytest.fixture
def encoder():
    return ReadsTexts()


def build(encoder, documents, index=None):
    kinds = ("alias", "mention")
    return EntityIndex.build(KB, encoder, index=index or FaissIVF(), kinds=kinds, documents=documents)


def by_hand(encoder, documents, text):
    """P(entity | text), one text and one entity at a time."""
    used = [d for d in documents if any(KB.rows(m.ids).max(initial=-1) >= 0 for m in d.mentions if m.ids)]
    cosines = np.array([encoder.encode_names([d.text])[0] @ encoder.encode_names([text])[0] for d in used])
    weights = np.exp(cosines / TEMPERATURE) / np.exp(cosines / TEMPERATURE).sum()
    named = [{int(row) for m in d.mentions if m.ids for row in KB.rows(m.ids)} for d in used]
    shares = [sum(w for w, rows in zip(weights, named, strict=True) if e in rows) for e in range(len(KB))]
    return [share if any(e in rows for rows in named) else UNKNOWN for e, share in enumerate(shares)]


def test_the_texts_of_a_retired_entity_are_those_of_its_successor():
    topics = Topics.build(np.eye(3), [np.array([0, 1]), np.array([1]), np.array([2])])
    moved = topics.redirected(np.array([1, 1, 2], dtype=np.int32))
    assert (moved.kb_rows.tolist(), moved.texts.tolist()) == ([1, 1, 2], [0, 1, 2])


def test_shares(encoder, documents):
    topics = build(encoder, documents).topics
    assert len(topics) == 3  # of texts that name an entity
    texts = ["a runny nose", "a cold winter", VIRUS]
    for text in texts:
        found = topics.shares(encoder.encode_names([text]), np.zeros(3, np.int64), np.arange(3))
        assert found == pytest.approx(by_hand(encoder, documents, text), abs=1e-3)
    together = topics.shares(encoder.encode_names(texts), np.array([2, 0, 2, 1]), np.array([0, 0, 2, 1]))
    expected = [by_hand(encoder, documents, texts[t])[e] for t, e in [(2, 0), (0, 0), (2, 2), (1, 1)]]
    assert together == pytest.approx(expected, abs=1e-3)


def test_of_entities_that_no_text_names_nothing_is_known(encoder, documents):
    topics = build(encoder, documents[1:2]).topics
    shares = topics.shares(encoder.encode_names([VIRUS]), np.zeros(3, np.int64), np.arange(3))
    assert shares == pytest.approx([UNKNOWN, 1, UNKNOWN])
    empty = Topics.build(np.zeros((0, 4), np.float32), [])
    shares = empty.shares(np.ones((1, 4), np.float32), np.zeros(2, np.int64), np.arange(2))
    assert shares == pytest.approx([UNKNOWN] * 2)


def test_none_without_annotated_text_and_for_encoders_that_read_none(encoder, documents):
    assert build(HashEmbed(width=16), documents).topics is None
    assert EntityIndex.build(KB, encoder, index=FaissIVF()).topics is None
    assert build(HashEmbed(width=16), documents).meta["topics"] == 0
    built = EntityIndex.build(KB, encoder, index=FaissIVF(), documents=documents, with_topics=False)
    assert built.topics is None and len(built.priors)


def test_disk_and_bytes(encoder, documents, tmp_path):
    index = build(encoder, documents, FaissIVF())
    index.to_disk(tmp_path / "index")
    for copy in (EntityIndex.from_disk(tmp_path / "index"), EntityIndex.from_bytes(index.to_bytes())):
        assert copy.meta["topics"] == 3 and copy.fingerprint == index.fingerprint
        assert copy.topics.vectors.tolist() == index.topics.vectors.tolist()
        for name, values in index.topics.columns().items():
            assert copy.topics.columns()[name].tolist() == values.tolist()
    other = build(encoder, [documents[0]], FaissIVF())
    other.topics = index.topics
    other._fingerprint = None
    assert other.fingerprint != build(encoder, [documents[0]], FaissIVF()).fingerprint


# -- in the linker ----------------------------------------------------------------------------------------


def make_linker(encoder, documents, weight=5.0, **settings):
    combiner = LinearCombiner()
    combiner.weights = {name: weight if name == "log_topic" else 0.0 for name in combiner.weights}
    return Linker(KB, encoder, build(encoder, documents), combiner, NetworkNil(), **settings)


def ask(text, name="cold"):
    return MentionQuery(text, text.index(name), text.index(name) + len(name))


def test_the_text_decides_between_entities_of_one_name(encoder, documents):
    linker = make_linker(encoder, documents)
    queries = [ask(f"cold, {VIRUS}"), ask(f"cold, {WEATHER}"), MentionQuery("a \n b", 1, 4)]
    assert [link.kb_id for link in linker.link(queries)[:2]] == ["V", "T"]
    table = linker.evidence(queries)
    expected = by_hand(encoder, documents, queries[0].text)
    wanted = [expected[row] for row in table.kb_rows[0][table.filled[0]]]
    assert table.features[TOPIC][0][table.filled[0]] == pytest.approx(wanted, abs=1e-3)
    assert table.has_candidates.tolist() == [True, True, False]


def test_a_text_is_read_once_also_with_abbreviations(encoder, documents):
    linker = make_linker(encoder, documents)
    encoder.texts.clear()
    text = f"HD and cold, {VIRUS}"
    short = replace_mention(ask(text, "HD"), "common cold")
    again = replace_mention(short, "head cold")
    queries = [ask(text), short, again, pickle.loads(pickle.dumps(short))]
    assert [query.context for query in queries] == [text] * 4
    linker.link(queries)
    assert encoder.texts == [text]


def test_a_text_is_read_once_in_all_batches(encoder, documents):
    linker = make_linker(encoder, documents, batch_size=2)
    encoder.texts.clear()
    first, second = f"cold, {VIRUS}", f"cold, {WEATHER}"
    linker.link([ask(first)] * 5 + [ask(second)] * 4)
    assert encoder.texts == [first, second]


def test_without_topics_there_is_no_such_feature(documents):
    linker = make_linker(HashEmbed(), documents)
    query = ask(f"cold, {VIRUS}")
    assert TOPIC not in linker.evidence([query]).features
    assert len(set(linker.link([query])[0].scores)) == 1  # nothing else has a weight
    assert not linear_features(linker.evidence([query]))["log_topic"].any()


# -- the bi-encoder ------------------------------------------------------------------------------------------


def test_a_bi_encoder_reads_the_beginning_of_texts():
    encoder = BiEncoder(name="random:layers=1,width=32")
    encoder.initialize()
    long = "the heart attack of a man " * 200
    texts = ["a fever", long, long[:3000], ""]
    vectors = encoder.encode_texts(texts)
    assert vectors.shape == (4, 32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 1], abs=1e-4)
    np.testing.assert_allclose(vectors[1], vectors[2], atol=1e-5)
    assert abs(vectors[0] - vectors[1]).max() > 1e-3
    assert encoder.encode_texts([]).shape == (0, 32)
