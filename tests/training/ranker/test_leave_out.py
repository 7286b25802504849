"""The index without some documents equals one that was built without them."""

from dataclasses import replace

import numpy as np
import pytest

from spacy_pel.candidates.evidence import find_candidates
from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.errors import PelError
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_ivf import FaissIVF
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker, MentionQuery
from spacy_pel.linking.combiner import LinearCombiner, is_gold
from spacy_pel.linking.nil import NetworkNil
from spacy_pel.training.preprocessing import SentenceWindows
from spacy_pel.training.ranker.candidates import RankMentions, cached_candidates
from spacy_pel.training.ranker.leave_out import LeaveOut
from spacy_pel.types import Document, Entity, Mention, original_id

KB = KnowledgeBase([Entity(f"D{i}", name) for i, name in enumerate(["gout", "asthma", "measles", "fever"])])
ENCODER = HashEmbed(width=64)
WORDS = ["gut", "astma", "spots", "heat", "gout", "unknown"]


def make_documents(n=24):
    rng = np.random.default_rng(0)
    documents = []
    for i in range(n):
        text, mentions = "", []
        for _ in range(3):
            word = int(rng.integers(len(WORDS)))
            ids = ("X",) if word == 5 else (f"D{word % 4}", f"D{(word + 1) % 4}")[: int(rng.integers(1, 3))]
            mentions.append(Mention(len(text), len(text) + len(WORDS[word]), "", ids))
            text += WORDS[word] + f" and {i} "
        documents.append(Document(f"d{i}", text, mentions))
    return documents


def build(documents, kinds=("alias", "mention"), most=None):
    return EntityIndex.build(
        KB, ENCODER, index=FaissIVF(), kinds=kinds, documents=documents, max_mentions_per_entity=most
    )


def same(one, other):
    assert one.kb_rows.tolist() == other.kb_rows.tolist()
    for name, values in one.features.items():
        np.testing.assert_allclose(values, other.features[name], atol=1e-5, err_msg=name)


@pytest.mark.parametrize("kinds", [("alias", "mention"), ("card",)])
def test_equals_an_index_built_without_them(kinds):
    documents = make_documents()
    left_out = documents[3:9]
    part = LeaveOut(KB, build(documents, kinds), documents).without({d.id for d in left_out} | {"nobody"})
    rest = build([d for d in documents if d not in left_out], kinds)
    same(find_candidates(KB, part, *_asked(left_out)), find_candidates(KB, rest, *_asked(left_out)))


def _asked(documents):
    queries = [MentionQuery(d.text, m.start, m.end) for d in documents for m in d.mentions]
    return ENCODER.encode_mentions([q.in_text for q in queries]), [q.surface for q in queries]


def test_mentions_of_an_entity_that_were_cut_to_a_few():
    documents = make_documents(40)
    index = build(documents, most=5)
    part = LeaveOut(KB, index, documents).without(["d3"])
    hidden = np.flatnonzero(~part.shown)
    everything = LeaveOut(KB, index, documents).without([d.id for d in documents])
    assert index.rows.count("mention") == (~everything.shown).sum() == 20
    assert len(everything.priors) == 0
    # the hidden rows are those of the document's mentions: their vectors say so
    vectors, _ = _asked([documents[3]])
    for row in hidden:
        assert np.abs(vectors @ index.vectors.vectors(row, row + 1)[0] - 1).min() < 1e-5


def test_other_documents_are_refused():
    documents = make_documents()
    for kinds in (("alias", "mention"), ("alias",)):
        index = build(documents, kinds)
        for wrong in (documents[1:], documents[::-1][:5], []):
            with pytest.raises(PelError, match="PEL-E391"):
                LeaveOut(KB, index, wrong)


# -- candidates ----------------------------------------------------------------------------------


@pytest.fixture
def linker():
    documents = make_documents()
    return Linker(KB, ENCODER, build(documents), LinearCombiner(), NetworkNil())


def queries_of(document):
    return [MentionQuery(document.text, m.start, m.end) for m in document.mentions]


def read(linker, documents, limit=0):
    return RankMentions.read(linker, documents, queries_of, limit=limit, seed=0)


def test_candidates_come_from_the_index_without_the_mention_itself(linker, tmp_path):
    documents = make_documents()
    mentions = read(linker, documents)
    assert len(mentions) == sum(len(m.ids) > 0 and m.ids != ("X",) for d in documents for m in d.mentions)
    leave_out = LeaveOut(KB, linker.index, documents)
    found = cached_candidates(tmp_path / "a.npz", linker, mentions, n=3, folds=5, leave_out=leave_out)
    for fold in range(5):  # literally: an index for each fold
        rest = [d for i, d in enumerate(documents) if i % 5 != fold]
        other = Linker(KB, ENCODER, build(rest), LinearCombiner(), NetworkNil(), top_k=6, read_context="always")
        for i in np.flatnonzero(mentions.document % 5 == fold):
            own, scores = found.kb_rows[i], found.scores[i]
            own, scores = own[own >= 0], scores[own >= 0]
            expected = {c.entity_id: c.score for c in other.link([mentions.queries[i]])[0].candidates}
            best = sorted(expected.values(), reverse=True)[:3]
            np.testing.assert_allclose(scores, best, atol=1e-5)
            # by id, as candidates whose scores are equal but for rounding may change places
            np.testing.assert_allclose(scores, [expected[one] for one in KB.ids_at(own)], atol=1e-5)
    easy = cached_candidates(tmp_path / "b.npz", linker, mentions, n=3)

    def share_of_gold(candidates):
        return (candidates.scores * is_gold(candidates.kb_rows, mentions.gold)).sum(axis=1).mean()

    assert share_of_gold(easy) > share_of_gold(found)  # the trap


def make_windows(n=10):
    """Documents of a sentence each, three from each text."""
    step, text = SentenceWindows(neighbours=0), "A gout here. A gout there. More gut."
    places = [(2, 6), (15, 19), (32, 35)]
    mentions = [Mention(start, end, "", ("D0",)) for start, end in places]
    return [part for i in range(n) for part in step(Document(f"d{i}", text, mentions))]


def test_the_parts_of_a_document_are_one():
    documents = make_windows()
    linker = Linker(KB, ENCODER, build(documents), LinearCombiner(), NetworkNil())
    mentions = read(linker, documents)
    assert mentions.document.tolist() == np.repeat(np.arange(10), 3).tolist()
    assert mentions.document_ids == [f"d{i}" for i in range(10)]
    few = RankMentions.read(linker, documents, queries_of, limit=6, seed=0, whole_documents=True)
    assert sorted(np.unique(few.document, return_counts=True)[1].tolist()) == [3, 3]
    leave_out = LeaveOut(KB, linker.index, documents)
    part, rest = leave_out.without(["d3"]), build([d for d in documents if original_id(d) != "d3"])
    same(find_candidates(KB, part, *_asked(documents)), find_candidates(KB, rest, *_asked(documents)))


def test_candidates_are_found_once(linker, tmp_path, monkeypatch):
    documents = make_documents()
    mentions, path = read(linker, documents), tmp_path / "train.npz"
    asked = []
    evidence = linker.evidence
    monkeypatch.setattr(Linker, "evidence", lambda self, q, **how: asked.append(len(q)) or evidence(q, **how))
    first = cached_candidates(path, linker, mentions, n=3)
    again = cached_candidates(path, linker, mentions, n=3)
    assert asked == [len(mentions)] and again.kb_rows.tolist() == first.kb_rows.tolist()
    cached_candidates(path, linker, mentions, n=2)  # another number
    cached_candidates(path, linker, read(linker, documents, limit=4), n=2)  # other mentions
    fewer = read(linker, documents, limit=4)
    vectors = linker.encoder.encode_mentions([query.in_text for query in fewer.queries])
    encoded = [replace(query, vector=vector) for query, vector in zip(fewer.queries, vectors, strict=True)]
    given = replace(fewer, queries=encoded)
    cached_candidates(path, linker, given, n=2)  # other vectors
    linker.decider.combiner.weights["name"] += 1
    cached_candidates(path, linker, read(linker, documents, limit=4), n=2)  # another combiner
    path.write_bytes(path.read_bytes()[:100])
    cached_candidates(path, linker, read(linker, documents, limit=4), n=2)  # a broken file
    assert asked == [len(mentions), len(mentions), 4, 4, 4, 4]


def test_a_limit_draws_always_the_same(linker):
    documents = make_documents()
    one, other = (read(linker, documents, limit=10) for _ in range(2))
    assert one.queries == other.queries and len(one) == 10
    assert one.document.tolist() == sorted(one.document.tolist())
    assert one.document.max() > 12  # not the first ones
