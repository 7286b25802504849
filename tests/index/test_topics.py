"""Topics: shares against a loop over texts, on disk, with texts left out, and in the linker."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.index.row_table import map_arrays
from spacy_pel.index.topics import TEMPERATURE, UNKNOWN, Topics
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker, MentionQuery, replace_mention
from spacy_pel.linking.combiner import LinearCombiner, linear_features
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.types import TOPIC, Document, Entity, Mention
from spacy_pel.util.arrow_files import write_arrays

KB = KnowledgeBase([Entity("V", "cold"), Entity("T", "cold temperature", ("cold",)), Entity("F", "fever")])
VIRUS, WEATHER = "cough and runny nose of a virus", "snow and ice in the winter weather"


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


def build(documents, index=None):
    kinds = ("alias", "mention")
    return EntityIndex.build(KB, HashEmbed(), index=index or FaissIVF(), kinds=kinds, documents=documents)


def by_hand(documents, text):
    """P(entity | text), by scikit-learn's TF-IDF, one entity at a time."""
    used = [d for d in documents if any(KB.rows(m.ids).max(initial=-1) >= 0 for m in d.mentions if m.ids)]
    vectorizer = TfidfVectorizer(token_pattern=r"[^\W_]{2,}", sublinear_tf=True).fit([d.text for d in used])
    cosines = (vectorizer.transform([d.text for d in used]) @ vectorizer.transform([text]).T).toarray()[:, 0]
    weights = np.exp(cosines / TEMPERATURE) / np.exp(cosines / TEMPERATURE).sum()
    named = [{int(row) for m in d.mentions if m.ids for row in KB.rows(m.ids)} for d in used]
    shares = [sum(w for w, rows in zip(weights, named, strict=True) if e in rows) for e in range(len(KB))]
    return [share if any(e in rows for rows in named) else UNKNOWN for e, share in enumerate(shares)]


def test_the_texts_of_a_retired_entity_are_those_of_its_successor():
    topics = Topics.build(["a one", "b two", "c three"], [np.array([0, 1]), np.array([1]), np.array([2])])
    moved = topics.redirected(np.array([1, 1, 2], dtype=np.int32))
    assert (moved.kb_rows.tolist(), moved.texts.tolist()) == ([1, 1, 2], [0, 1, 2])
    assert all(moved.shares(["two"], np.array([[1]])) > topics.shares(["three"], np.array([[1]])))


def test_shares(documents):
    topics = build(documents).topics
    assert len(topics) == 3  # of texts that name an entity
    texts = ["fever, a runny nose", "in the winter: snow, snow and weather", VIRUS.upper()]
    for text in texts:
        shares = topics.shares([text], np.array([[0, 1, 2]]))[0]
        assert shares == pytest.approx(by_hand(documents, text), abs=3e-3)
        assert not topics.shares([f"{text} {'unheard ' * 3}"], np.array([[0, 1, 2]]))[0] == pytest.approx(shares)
    together = topics.shares([texts[2], "", texts[0], texts[2]], np.array([[0, 2], [0, 1], [1, -1], [1, 0]]))
    alone = topics.shares([texts[2]], np.array([[0, 1, 2]]))[0]
    other = topics.shares([texts[0]], np.array([[1]]))[0, 0]
    expected = [[alone[0], alone[2]], [UNKNOWN] * 2, [other, UNKNOWN], [alone[1], alone[0]]]
    assert together.tolist() == np.array(expected, np.float32).tolist()


def test_as_many_texts_as_a_byte_can_count():
    topics = Topics.build([f"asthma w{n}" for n in range(255)], [np.array([n % 5]) for n in range(255)])
    near, far, _ = topics.shares(["asthma w3"], np.array([[3, 4, 5]]))[0]
    assert 0.99 < near <= 1 and 0 < far < 0.01


def test_of_entities_that_no_text_names_nothing_is_known(documents):
    topics = build(documents[1:2]).topics
    assert topics.shares([VIRUS], np.array([[0, 1, 2]]))[0] == pytest.approx([UNKNOWN, 1, UNKNOWN])
    assert topics.shares(["\u2026 \ud800"], np.array([[1]]))[0, 0] == pytest.approx(1)  # no word, or a broken one
    assert Topics.build([], []).shares([VIRUS], np.array([[0, 1]]))[0] == pytest.approx([UNKNOWN] * 2)


def test_none_without_annotated_text(documents):
    built = EntityIndex.build(KB, HashEmbed(), index=FaissIVF())
    assert built.topics is None and built.meta["topics"] == 0
    built = EntityIndex.build(KB, HashEmbed(), index=FaissIVF(), documents=documents, with_topics=False)
    assert built.topics is None and len(built.priors)


def test_disk_and_bytes(documents, tmp_path):
    index = build(documents)
    index.to_disk(tmp_path / "index")
    for copy in (EntityIndex.from_disk(tmp_path / "index"), EntityIndex.from_bytes(index.to_bytes())):
        assert copy.meta["topics"] == 3 and copy.fingerprint == index.fingerprint
        for ours, theirs in zip(copy.topics.arrays, index.topics.arrays, strict=True):
            assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())
    other = build([documents[0]])
    other.topics = index.topics
    other._fingerprint = None
    assert other.fingerprint != build([documents[0]]).fingerprint


@pytest.mark.parametrize(
    ("file", "column", "damage"),
    [
        ("topic_words.arrow", "weight", lambda weights: weights * np.float16("nan")),
        ("topic_words.arrow", "weight", lambda weights: weights.astype(np.int8)),
        ("topic_words.arrow", "word", lambda words: words[::-1]),
        ("topic_words.arrow", "word", lambda words: words.astype(np.int32)),
        ("topic_words.arrow", "text", lambda texts: texts.astype(np.float32)),
        ("topic_words.arrow", "text", lambda texts: texts.astype(np.int64) - 1),
        ("topic_words.arrow", "text", lambda texts: texts + np.int64(10**12)),
        ("topic_pairs.arrow", "text", lambda texts: texts + 10**9),
        ("topic_pairs.arrow", "text", lambda texts: texts.astype(np.float32)),
        ("topic_pairs.arrow", "kb_row", lambda rows: rows[::-1].astype(np.uint32)),
    ],
)
def test_damaged_numbers_are_refused_before_anything_is_counted(documents, tmp_path, file, column, damage):
    topics = build(documents).topics
    topics.to_disk(tmp_path)
    arrays = {name: values.copy() for name, values in map_arrays(tmp_path / file).items()}
    write_arrays(tmp_path / file, arrays | {column: damage(arrays[column])})
    with pytest.raises(ValueError, match="not sorted, or have numbers"):
        Topics.from_disk(tmp_path, len(topics))


# -- in the linker ----------------------------------------------------------------------------------------


def make_linker(documents, weight=5.0, **settings):
    combiner = LinearCombiner()
    combiner.weights = {name: weight if name == "log_topic" else 0.0 for name in combiner.weights}
    return Linker(KB, HashEmbed(), build(documents), combiner, NetworkNil(), **settings)


def ask(text, name="cold"):
    return MentionQuery(text, text.index(name), text.index(name) + len(name))


def test_the_text_decides_between_entities_of_one_name(documents):
    linker = make_linker(documents)
    queries = [ask(f"cold, {VIRUS}"), ask(f"cold, {WEATHER}"), MentionQuery("a \n b", 1, 4)]
    assert [link.kb_id for link in linker.link(queries)[:2]] == ["V", "T"]
    table = linker.evidence(queries)
    expected = by_hand(documents, queries[0].text)
    wanted = [expected[row] for row in table.kb_rows[0][table.filled[0]]]
    assert table.features[TOPIC][0][table.filled[0]] == pytest.approx(wanted, abs=1e-3)
    assert table.has_candidates.tolist() == [True, True, False]


def test_all_mentions_of_a_text_are_about_the_same(documents):
    linker = make_linker(documents, batch_size=2)
    text = f"HD and cold, {VIRUS}"
    short = replace_mention(ask(text, "HD"), "common cold")
    queries = [ask(text), short, replace_mention(short, "cold"), pickle.loads(pickle.dumps(ask(text)))]
    assert [query.context for query in queries] == [text] * 4
    first, _, third, last = linker.link(queries)
    assert first.kb_id == third.kb_id == last.kb_id == "V" and first.probability == last.probability


def test_without_topics_there_is_no_such_feature():
    linker = make_linker([])
    query = ask(f"cold, {VIRUS}")
    assert TOPIC not in linker.evidence([query]).features
    assert len(set(linker.link([query])[0].scores)) == 1  # nothing else has a weight
    assert not linear_features(linker.evidence([query]))["log_topic"].any()
