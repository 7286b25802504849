"""Mining against a slow ranking: gold left out, ranks."""

from functools import partial

import numpy as np
import pytest

from spacy_pel.training.mining import TopK, mine

N, M, WIDTH = 300, 50, 8


def unit(vectors):
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    queries, entities = unit(rng.normal(size=(M, WIDTH))), unit(rng.normal(size=(N, WIDTH)))
    nearest = (queries @ entities.T).argsort(axis=1)[:, ::-1]
    # the gold: the nearest, several of which one is near, one far away
    gold = [nearest[i, [[0], [2, 200, 90], [250]][i % 3]].astype(np.int64) for i in range(M)]
    return queries, entities, gold


def chunks(entities, n_chunks=4):
    for chunk in range(n_chunks):
        rows = np.arange(chunk, len(entities), n_chunks)
        yield rows, entities[rows]


def run(queries, entities, gold, depth=20):
    return mine(gold, chunks(entities), partial(TopK, queries), depth=depth, n_entities=len(entities))


def slow(queries, entities, gold, depth, score):
    rows, scores, ranks = [], [], []
    for query, own in zip(queries.astype(np.float64), gold, strict=True):
        values = [score(query, entity) for entity in entities.astype(np.float64)]
        order = sorted(range(len(entities)), key=lambda row, values=values: -values[row])
        rows.append([row for row in order if row not in own][:depth])
        scores.append([values[row] for row in rows[-1]])
        ranks.append(1 + min(order.index(row) for row in own))
    return np.array(rows), np.array(scores), np.array(ranks)


def test_mining_is_that_of_a_slow_ranking(data, monkeypatch):
    monkeypatch.setattr("spacy_pel.training.mining._QUERIES", 7)
    mined = run(*data)
    rows, scores, ranks = slow(*data, 20, np.dot)
    np.testing.assert_allclose(mined.scores, scores, atol=1e-6)
    assert np.array_equal(mined.rows, rows) and mined.rows.dtype == np.int32
    seen = np.where(ranks <= 23, ranks, 0)  # 20 and the 3 gold ones of a mention
    assert np.array_equal(mined.ranks, seen) and 0 < (seen > 0).mean() < 1
    assert mined.recall(1) == pytest.approx((ranks == 1).mean())
    assert mined.recall(20) == pytest.approx((ranks <= 20).mean())
    for own, row in zip(data[2], mined.rows, strict=True):
        assert not np.isin(row, own).any()


def test_fewer_entities_than_asked_for(data):
    queries, entities, _ = data
    mined = run(queries[:2], entities[:4], [np.array([0]), np.array([1])], depth=6)
    assert (np.sort(mined.rows, axis=1) == [[-1, -1, -1, 1, 2, 3], [-1, -1, -1, 0, 2, 3]]).all()
    assert np.isneginf(mined.scores[mined.rows < 0]).all() and (mined.ranks > 0).all()


def test_a_mention_whose_gold_is_half_of_the_knowledge_base(data):
    mined = run(data[0][:1], data[1], [np.arange(0, N, 2)], depth=10)
    assert (mined.rows >= 0).sum() == 10 and (mined.rows % 2 == 1).all()
