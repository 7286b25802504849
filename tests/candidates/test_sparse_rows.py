"""Exact search over sparse vectors equals the dense product, whichever columns are frequent."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack
from scipy.sparse import random as sparse_random

from spacy_pel.candidates import sparse_rows
from spacy_pel.candidates.exact_neighbours import ExactNeighbours
from spacy_pel.candidates.sparse_rows import SparseRows, best_of

pytestmark = pytest.mark.slow


def vectors_of(n, columns=60, seed=0):
    """Few columns that most rows have, many that few have; every tenth row has the frequent ones only."""
    rng = np.random.default_rng(seed)
    share = np.where(np.arange(columns) < 6, 0.5, 0.04)
    dense = (rng.random((n, columns)) * (rng.random((n, columns)) < share)).astype(np.float32)
    dense[::10, 6:] = 0
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-9)
    return csr_matrix(dense)


def literal(vectors, queries, k, usable=None):
    dense = (queries.astype(np.float64) @ vectors.T.astype(np.float64)).toarray()
    for scores in dense:
        places = [i for i in range(len(scores)) if scores[i] > 0 and (usable is None or usable[i])]
        yield sorted(places, key=lambda i: -scores[i])[:k], scores


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 1.0])  # which columns are looked at in the second step
@pytest.mark.parametrize("masked", [False, True])
def test_equals_the_dense_product(monkeypatch, share, masked):
    monkeypatch.setattr(sparse_rows, "_FREQUENT", share)
    vectors = vectors_of(500)
    queries = vstack([vectors_of(130, seed=1), vectors[:9], csr_matrix((1, 60), dtype=np.float32)]).tocsr()
    usable = np.random.default_rng(2).random(500) < 0.4 if masked else None
    rows = SparseRows.of(vectors)
    for k in (1, 5, 40, 900):
        found = rows.search(queries, k, usable)
        for number, (expected, scores) in enumerate(literal(vectors, queries, k, usable)):
            own = slice(found.offsets[number], found.offsets[number + 1])
            assert found.scores[own] == pytest.approx(scores[expected], abs=1e-6)
            assert scores[found.rows[own]] == pytest.approx(scores[expected], abs=1e-6)
            assert len(set(found.rows[own].tolist())) == len(expected)


def test_most_rows_are_not_compared_in_full(monkeypatch):
    compared = []
    plain = SparseRows._compare

    def counted(self, near, *rest):
        compared.append(len(near))
        return plain(self, near, *rest)

    monkeypatch.setattr(SparseRows, "_compare", counted)
    monkeypatch.setattr(sparse_rows, "_FREQUENT", 0.1)
    vectors = vectors_of(2000)
    rows = SparseRows.of(vectors)
    rows.search(vectors[1:200:10], 3)
    assert np.median(compared) < 100


def test_equal_scores_by_row():
    vectors = vstack([vectors_of(30), vectors_of(30), vectors_of(30)]).tocsr()
    for rows in (SparseRows.of(vectors), SparseRows.of(vectors[:30])):
        for start in range(30, 30 * (len(rows) // 30), 30):
            rows.add(vectors[start : start + 30])
        found = rows.search(vectors[3:4], 2)
        assert found.rows.tolist() == ([3, 33] if len(rows) == 90 else [3, *found.rows[1:]])
    assert [part.tolist() for part in best_of(np.array([7, 2, 5]), np.array([1.0, 1.0, 2.0]), 2)] == [
        [5, 2],
        [2.0, 1.0],
    ]


def test_rows_that_are_added_later():
    vectors = vectors_of(200)
    rows = SparseRows.of(vectors[:150])
    rows.add(vectors[150:])
    found, whole = rows.search(vectors[:40], 7), SparseRows.of(vectors).search(vectors[:40], 7)
    assert found.rows.tolist() == whole.rows.tolist() and len(rows) == 200
    assert found.scores == pytest.approx(whole.scores, abs=1e-6)


def test_columns_that_do_not_belong_together():
    columns = SparseRows.of(vectors_of(50)).columns()
    assert len(SparseRows.from_columns(columns)) == 50
    with pytest.raises(ValueError):
        SparseRows.from_columns({**columns, "rare_indices": columns["rare_indices"] + 1000})


def test_neighbours_as_scispacy_asks_for_them():
    vectors = sparse_random(300, 40, density=0.1, format="csr", random_state=0, dtype=np.float32)
    vectors = vstack([vectors, vectors[:9]]).tocsr()  # equal distances: the lower row comes first
    queries = sparse_random(270, 40, density=0.2, format="csr", random_state=1, dtype=np.float32)
    for k in (1, 5, 400):
        found = ExactNeighbours(SparseRows.of(vectors)).knnQueryBatch(queries, k)
        assert len(found) == 270
        for (rows, distances), (expected, scores) in zip(found, literal(vectors, queries, k), strict=True):
            assert len(rows) == len(expected)
            assert distances == pytest.approx(1 - scores[expected], abs=1e-5)
            assert distances == pytest.approx(1 - scores[rows], abs=1e-5)
