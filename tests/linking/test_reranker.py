"""The ranker's scores and the combiner's put together."""

import numpy as np
import pytest

from spacy_pel.encoders.hash_embed import HashEmbed
from spacy_pel.index import EntityIndex
from spacy_pel.index.faiss_flat import FaissFlat
from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import Linker, MentionQuery, Reranker
from spacy_pel.linking.combiners import LinearCombiner
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.types import NIL, CandidateTable, Document, Entity, Mention

from .annotated import fit_documents, gold_queries

NAMES = ["measles", "asthma", "gout", "scabies", "malaria", "cholera", "leprosy", "tetanus"]
KB = KnowledgeBase([Entity(f"D{i}", name, (f"{name} disease",)) for i, name in enumerate(NAMES)])
TABLE = CandidateTable(np.array([0, 1, 2, 3, 4, 5, 6]), np.array([0, 4, 4, 7]), {})
SCORES = np.array([0.1, 0.5, 0.2, 0.2, 0.6, 0.3, 0.1], dtype=np.float32)
QUERIES = [MentionQuery("gout", 0, 4), MentionQuery(" ", 0, 1), MentionQuery("asthma", 0, 6)]


class ByLetters:
    """Scores by the letters that the mention and the name share: a ranker without weights."""

    fingerprint = "letters"

    def __init__(self, top_k=2, mix=None):
        self.top_k, self.mix = top_k, mix
        self.asked = []

    def score(self, task, *, show_progress=False):
        self.asked.append(task)
        pairs = zip(task.owners, task.rows, strict=True)
        shared = [set(task.mentions[i].surface) & set(task.entities[j].canonical_name) for i, j in pairs]
        return np.array([len(letters) for letters in shared], dtype=np.float32)


def literal(scores, read, weights):
    """The formula for one mention, slowly."""
    a, b = weights
    total = sum(max(s, 1e-30) for s in scores)
    shares = [max(s, 1e-30) / total for s in scores]
    logits = {i: a * r + b * np.log(shares[i]) for i, r in enumerate(read) if not np.isnan(r)}
    norm = sum(np.exp(v) for v in logits.values())
    mass = sum(shares[i] for i in logits)
    return {i: mass * np.exp(v) / norm for i, v in logits.items()}


@pytest.mark.parametrize("weights", [(1.0, 1.0), (2.0, 0.0), (0.3, 1.7), (0.0, 0.0)])
def test_combine_is_the_formula(weights):
    reranker = Reranker(ByLetters())
    reranker.load_state({"weights": weights})
    read = np.array([np.nan, 1.5, -0.5, np.nan, 0.0, 2.0, np.nan], dtype=np.float32)
    found = reranker.combine(TABLE, SCORES, read)
    for start, end in ((0, 4), (4, 7)):
        expected = literal(SCORES[start:end].astype(float), read[start:end].astype(float), weights)
        for place, value in expected.items():
            assert found[start + place] == pytest.approx(value, rel=1e-5)
        behind = [found[i] for i in range(start, end) if np.isnan(read[i])]
        assert max(behind) < min(found[start + place] for place in expected)
    assert found[0] < found[3]  # unread candidates keep their order
    assert found[:4].sum() <= 1 + 1e-6 and found[4:].sum() <= 1 + 1e-6


def test_far_apart_scores_of_the_ranker_stay_finite_and_ordered():
    read = np.array([1e4, -1e4, 0.0, np.nan, np.nan, 50.0, -50.0], dtype=np.float32)
    found = Reranker(ByLetters(mix=0.0)).combine(TABLE, SCORES, read)
    assert np.isfinite(found).all()
    assert found[0] > max(found[1], found[2]) and min(found[1], found[2]) > found[3] >= 0
    assert found[5] > found[6] > found[4]


def test_negative_cosines_have_no_logarithm():
    scores = np.array([-0.2, 0.4, -0.1, 0.0, -1.0, -0.9, -0.8], dtype=np.float32)
    found = Reranker(ByLetters()).combine(TABLE, scores, np.zeros(7, dtype=np.float32))
    assert np.isfinite(found).all() and found[:4].argmax() == 1


def test_the_best_are_read_and_each_entity_once():
    ranker = ByLetters(top_k=3)
    read = Reranker(ranker).read(KB, QUERIES, TABLE, SCORES)
    assert np.isnan(read).tolist() == [True, False, False, False, False, False, False]
    (task,) = ranker.asked
    assert [e.concept_id for e in task.entities] == ["D1", "D2", "D3", "D4", "D5", "D6"]
    assert task.offsets.tolist() == [0, 3, 3, 6] and task.owners.tolist() == [0, 0, 0, 2, 2, 2]


def test_fit_learns_whom_to_trust():
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 4001, 10)
    table = CandidateTable(np.tile(np.arange(10), 400), offsets, {})
    gold = rng.integers(10, size=400)
    right = np.zeros((400, 10))
    right[np.arange(400), gold] = 1
    good = (3 * right + rng.normal(size=right.shape)).ravel().astype(np.float32)
    noise = rng.normal(size=good.shape).astype(np.float32)
    rows = [np.array([g]) if i % 5 else np.zeros(0, np.int64) for i, g in enumerate(gold)]
    shares = np.exp(noise) / np.exp(noise).reshape(400, 10).sum(axis=1).repeat(10)
    trusting, doubting = Reranker(ByLetters(top_k=10)), Reranker(ByLetters(top_k=10))
    trusting.fit(table, shares, good, rows)
    assert trusting.weights[0] > 2.0 and trusting.weights[1] < 0.3
    good_shares = np.exp(good) / np.exp(good).reshape(400, 10).sum(axis=1).repeat(10)
    doubting.fit(table, good_shares, noise, rows)
    assert doubting.weights[0] < 0.3 and doubting.weights[1] > 2.0
    again = Reranker(ByLetters())
    again.load_state(doubting.state())
    assert again.weights == doubting.weights
    again.load_state({})
    assert again.weights == (1.0, 1.0)
    fixed = Reranker(ByLetters(mix=0.25))
    fixed.fit(table, shares, good, rows)
    assert fixed.weights == (1.0, 0.25)
    without = Reranker(ByLetters())
    without.fit(table, shares, good, [np.zeros(0, np.int64)] * 400)
    assert without.weights == (1.0, 1.0)


# -- in the linker -------------------------------------------------------------------------------


def test_fit_goes_through_combiner_mix_and_nil_model():
    ranker = ByLetters(top_k=4)
    encoder = HashEmbed(width=64)
    index = EntityIndex.build(KB, encoder, index=FaissFlat())
    linker = Linker(KB, encoder, index, LinearCombiner(), LogisticNil(), reranker=Reranker(ranker))
    texts = [(name, f"D{i}") for i, name in enumerate(NAMES)]
    texts += [(text, "U") for text in ("zzyzx", "qwrtp", "xyloph", "vbnmk")]
    corpus = [Document(t, f"A {t} case", [Mention(2, 2 + len(t), "", (i,))]) for t, i in texts]
    fit_documents(linker, corpus)
    assert len(ranker.asked) == 1  # it reads for long: once is enough
    assert linker.reranker.weights != (1.0, 1.0) and linker.calibrated_threshold is not None
    links = linker.link(gold_queries(corpus))
    assert [link.kb_id for link in links] == [i if i != "U" else NIL for _, i in texts]
