"""Mining against a slow ranking: every way to search, gold left out, ranks."""

import numpy as np
import pytest
import torch

from spacy_pel.encoders.similarities.euclidean import Euclidean
from spacy_pel.errors import PelError
from spacy_pel.training.negatives.mining.mine import mine
from spacy_pel.training.negatives.mining.streaming_top_k import FlatTopK, IvfTopK, MatrixTopK, Parts, make_top_k
from spacy_pel.util.ragged import offsets_of

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


def run(data, depth=20, **settings):
    queries, entities, gold = data
    offsets = offsets_of(np.array([len(own) for own in gold]))
    return mine(queries, np.concatenate(gold), offsets, chunks(entities), depth=depth, n_entities=N, **settings)


def slow(queries, entities, gold, depth, score):
    rows, scores, ranks = [], [], []
    for query, own in zip(queries.astype(np.float64), gold, strict=True):
        values = [score(query, entity) for entity in entities.astype(np.float64)]
        order = sorted(range(len(entities)), key=lambda row, values=values: -values[row])
        rows.append([row for row in order if row not in own][:depth])
        scores.append([values[row] for row in rows[-1]])
        ranks.append(1 + min(order.index(row) for row in own))
    return np.array(rows), np.array(scores), np.array(ranks)


SEARCHES = {
    "faiss": {},
    "ivf": {"index": "ivf"},  # so few entities that all lists are looked at
    "matrix": {"device": torch.device("meta")},
}


@pytest.mark.parametrize("search", SEARCHES)
def test_mining_is_that_of_a_slow_ranking(data, search, monkeypatch):
    if search == "matrix":  # the same code on a CPU
        monkeypatch.setattr(
            "spacy_pel.training.negatives.mining.streaming_top_k.MatrixTopK",
            lambda queries, k, device: MatrixTopK(queries, k, torch.device("cpu")),
        )
        monkeypatch.setattr("spacy_pel.training.negatives.mining.streaming_top_k._QUERIES", 7)
    mined = run(data, **SEARCHES[search])
    rows, scores, ranks = slow(*data, 20, np.dot)
    atol = 2e-3 if search == "ivf" else 1e-6
    np.testing.assert_allclose(mined.scores, scores, atol=atol)
    if search != "ivf":  # 16-bit codes may swap neighbours
        assert np.array_equal(mined.rows, rows) and mined.rows.dtype == np.int32
        seen = np.where(ranks <= 23, ranks, 0)  # 20 and the 3 gold ones of a mention
        assert np.array_equal(mined.ranks, seen) and 0 < (seen > 0).mean() < 1
        assert mined.recall(1) == pytest.approx((ranks == 1).mean())
        assert mined.recall(20) == pytest.approx((ranks <= 20).mean())
    for own, row in zip(data[2], mined.rows, strict=True):
        assert not np.isin(row, own).any()


def test_euclidean_mining_is_by_distance(data):
    rng = np.random.default_rng(1)
    longer = (data[0], data[1] * rng.uniform(0.2, 3, size=(N, 1)).astype(np.float32), data[2])
    similarity = Euclidean()
    queries = similarity.index_vectors(longer[0], "mention")
    mined = run((queries, similarity.index_vectors(longer[1], "entity"), data[2]))
    rows, _, _ = slow(*longer, 20, lambda query, entity: -np.linalg.norm(query - entity))
    assert np.array_equal(mined.rows, rows)
    assert not np.array_equal(run(longer).rows, rows)


@pytest.mark.parametrize("search", SEARCHES)
def test_mining_within_parts_is_that_of_each_part_alone(data, search, monkeypatch):
    """Also where a part is smaller than the depth, or has no mention."""
    monkeypatch.setattr(
        "spacy_pel.training.negatives.mining.streaming_top_k.MatrixTopK",
        lambda queries, k, device: MatrixTopK(queries, k, torch.device("cpu")),
    )
    queries, entities, gold = data
    sizes = [12, 100, 180, 8]
    of_entity = np.random.default_rng(4).permutation(np.repeat([0, 1, 2, 3], sizes))
    of_query = np.arange(M) % 3
    members = [np.flatnonzero(of_entity == part) for part in range(4)]
    own = [members[part][np.asarray(gold[i]) % 12] for i, part in enumerate(of_query)]
    parts = Parts(of_query, of_entity)
    mined = run((queries, entities, own), parts=parts, **SEARCHES[search])
    for i, (part, right) in enumerate(zip(of_query, own, strict=True)):
        scores = entities[members[part]].astype(np.float64) @ queries[i].astype(np.float64)
        order = members[part][np.argsort(-scores)]
        expected = [row for row in order if row not in right][:20]
        found = [row for row in mined.rows[i] if row >= 0]
        assert len(found) == len(expected) == min(20, sizes[part] - len(set(right.tolist())))
        assert np.isneginf(mined.scores[i, len(found) :]).all()
        if search != "ivf":
            assert found == expected
            rank = 1 + min(order.tolist().index(row) for row in right)
            assert mined.ranks[i] == (rank if rank <= 23 else 0)
        assert set(of_entity[found]) == {part}


@pytest.mark.parametrize("index", ["flat", "ivf"])
def test_fewer_entities_than_asked_for(data, index):
    queries, entities, _ = data
    one = np.arange(2, dtype=np.int64)
    mined = mine(queries[:2], one, np.array([0, 1, 2]), chunks(entities[:4]), depth=6, n_entities=4, index=index)
    assert (np.sort(mined.rows, axis=1) == [[-1, -1, -1, 1, 2, 3], [-1, -1, -1, 0, 2, 3]]).all()
    assert np.isneginf(mined.scores[mined.rows < 0]).all() and (mined.ranks > 0).all()


def test_a_mention_whose_gold_is_half_of_the_knowledge_base(data):
    queries, entities, _ = data
    gold = np.arange(0, N, 2)
    mined = mine(queries[:1], gold, np.array([0, len(gold)]), chunks(entities), depth=10, n_entities=N)
    assert (mined.rows >= 0).sum() == 10 and (mined.rows % 2 == 1).all()


def test_no_mentions(data):
    mined = mine(data[0][:0], np.zeros(0, np.int64), np.zeros(1, np.int64), chunks(data[1]), depth=3, n_entities=N)
    assert mined.rows.shape == (0, 3) and mined.recall(1) == 0.0


def test_kinds_of_search(data):
    cpu = torch.device("cpu")
    assert isinstance(make_top_k("flat", data[0], 3, N, cpu), FlatTopK)
    assert isinstance(make_top_k("ivf", data[0], 3, N), IvfTopK)
    assert isinstance(make_top_k("flat", data[0], 3, N, torch.device("meta")), MatrixTopK)
    with pytest.raises(PelError, match="hnsw"):
        make_top_k("hnsw", data[0], 3, N)
