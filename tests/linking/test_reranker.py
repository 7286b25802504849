"""The ranker's scores and the combiner's put together."""

import numpy as np
import pytest

from spacy_pel.kb import KnowledgeBase
from spacy_pel.linking import MentionQuery, Reranker
from spacy_pel.types import NIL, Document, Entity, Mention
from spacy_pel.util.arrays import softmax

from .annotated import fit_documents, gold_queries, hashed_linker
from .tables import laid_out, table_of

NAMES = ["measles", "asthma", "gout", "scabies", "malaria", "cholera", "leprosy", "tetanus"]
KB = KnowledgeBase([Entity(f"D{i}", name, (f"{name} disease",)) for i, name in enumerate(NAMES)])
TABLE = table_of([[0, 1, 2, 3], [], [4, 5, 6]])
SCORES = laid_out([[0.1, 0.5, 0.2, 0.2], [], [0.6, 0.3, 0.1]])
QUERIES = [MentionQuery("gout", 0, 4), MentionQuery(" ", 0, 1), MentionQuery("asthma", 0, 6)]


class ByLetters:
    """Scores by the letters that the mention and the name share: a ranker without weights."""

    fingerprint = "letters"

    def __init__(self, top_k=2, mix=None):
        self.top_k, self.mix = top_k, mix
        self.asked = []

    def score(self, task, *, show_progress=False):
        self.asked.append(task)
        pairs = zip(*task.pairs, strict=True)
        shared = [set(task.mentions[i].surface) & set(task.entities[j].canonical_name) for i, j in pairs]
        return task.spread([len(letters) for letters in shared])


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
    read = laid_out([[np.nan, 1.5, -0.5], [], [0.0, 2.0]], np.nan)
    found = reranker.combine(TABLE, SCORES, np.pad(read, ((0, 0), (0, 1)), constant_values=np.nan))
    assert found[1].tolist() == [-np.inf] * 4
    for mention, n in ((0, 4), (2, 3)):
        expected = literal(SCORES[mention, :n].astype(float), [*read[mention].astype(float), np.nan][:n], weights)
        for place, value in expected.items():
            assert found[mention, place] == pytest.approx(value, rel=1e-5)
        behind = [found[mention, i] for i in range(n) if i not in expected]
        assert max(behind) < min(found[mention, place] for place in expected)
        assert found[mention, :n].sum() <= 1 + 1e-6
    assert found[0, 0] < found[0, 3]  # unread candidates keep their order


def test_far_apart_scores_of_the_ranker_stay_finite_and_ordered():
    read = laid_out([[1e4, -1e4, 0.0, np.nan], [], [np.nan, 50.0, -50.0]], np.nan)
    found = Reranker(ByLetters(mix=0.0)).combine(TABLE, SCORES, read)
    assert (np.isfinite(found) == TABLE.filled).all()
    assert found[0, 0] > found[0, 1:3].max() and found[0, 1:3].min() > found[0, 3] >= 0
    assert found[2, 1] > found[2, 2] > found[2, 0]


def test_negative_cosines_have_no_logarithm():
    scores = laid_out([[-0.2, 0.4, -0.1, 0.0], [], [-1.0, -0.9, -0.8]])
    found = Reranker(ByLetters()).combine(TABLE, scores, laid_out([[0] * 4, [], [0] * 3], np.nan))
    assert (np.isfinite(found) == TABLE.filled).all() and found[0].argmax() == 1


def test_the_best_are_read_and_each_entity_once():
    ranker = ByLetters(top_k=3)
    read = Reranker(ranker).read(KB, QUERIES, TABLE, SCORES)
    assert np.isnan(read).tolist() == [[1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]]
    (task,) = ranker.asked
    assert [e.concept_id for e in task.entities] == ["D1", "D2", "D3", "D4", "D5", "D6"]
    assert [rows.tolist() for rows in task.pairs] == [[0, 0, 0, 2, 2, 2], [0, 1, 2, 3, 4, 5]]


def test_fit_learns_whom_to_trust():
    rng = np.random.default_rng(0)
    table = table_of([range(10)] * 400)
    gold = rng.integers(10, size=400)
    right = np.zeros((400, 10))
    right[np.arange(400), gold] = 1
    good = (3 * right + rng.normal(size=right.shape)).astype(np.float32)
    noise = rng.normal(size=good.shape).astype(np.float32)
    rows = [np.array([g]) if i % 5 else np.zeros(0, np.int64) for i, g in enumerate(gold)]
    shares, good_shares = softmax(noise), softmax(good)
    trusting, doubting = Reranker(ByLetters(top_k=10)), Reranker(ByLetters(top_k=10))
    trusting.fit(table, shares, good, rows)
    assert trusting.weights[0] > 2.0 and trusting.weights[1] < 0.3
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
    linker = hashed_linker(KB, reranker=Reranker(ranker))
    texts = [(name, f"D{i}") for i, name in enumerate(NAMES)]
    texts += [(text, "U") for text in ("zzyzx", "qwrtp", "xyloph", "vbnmk")]
    corpus = [Document(t, f"A {t} case", [Mention(2, 2 + len(t), "", (i,))]) for t, i in texts]
    fit_documents(linker, corpus)
    assert len(ranker.asked) == 1  # it reads for long: once is enough
    assert linker.reranker.weights != (1.0, 1.0) and linker.decider.is_calibrated
    links = linker.link(gold_queries(corpus))
    assert [link.kb_id for link in links] == [i if i != "U" else NIL for _, i in texts]
