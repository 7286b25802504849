"""Exact search over sparse vectors equals the dense product."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from spacy_pel.candidates.tfidf import VectorizedNames, best_of


def vectors_of(n, columns=60, seed=0):
    """Few columns that most rows have, many that few have."""
    rng = np.random.default_rng(seed)
    share = np.where(np.arange(columns) < 6, 0.5, 0.04)
    dense = (rng.random((n, columns)) * (rng.random((n, columns)) < share)).astype(np.float32)
    dense /= np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-9)
    return csr_matrix(dense)


def literal(vectors, queries, k, usable=None):
    dense = (queries.astype(np.float64) @ vectors.T.astype(np.float64)).toarray()
    for scores in dense:
        rows = [row for row in range(len(scores)) if scores[row] > 0 and (usable is None or usable[row])]
        yield sorted(rows, key=lambda row: -scores[row])[:k], scores


class Vectors:
    """A vectoriser of what are vectors already."""

    def transform(self, queries):
        return vstack(queries).tocsr() if isinstance(queries, list) else queries


@pytest.mark.parametrize("masked", [False, True])
def test_equals_the_dense_product(masked):
    vectors = vectors_of(500)
    queries = vstack([vectors_of(130, seed=1), vectors[:9], csr_matrix((1, 60), dtype=np.float32)]).tocsr()
    usable = np.random.default_rng(2).random(500) < 0.4 if masked else None
    names = VectorizedNames(Vectors(), vectors[:450].T.tocsr())
    names.add([vectors[450:]])
    assert len(names) == 500
    for k in (1, 5, 40, 900):
        found = names.search(queries, k, usable)
        for (rows, cosines), (expected, scores) in zip(found, literal(vectors, queries, k, usable), strict=True):
            assert cosines == pytest.approx(scores[expected], abs=1e-6)
            assert scores[rows] == pytest.approx(scores[expected], abs=1e-6)
            assert len(set(rows.tolist())) == len(expected)


def test_equal_scores_by_row():
    vectors = vstack([vectors_of(30)] * 3).tocsr()
    names = VectorizedNames(Vectors(), vectors.T.tocsr())
    [(rows, _)] = names.search(vectors[3:4], 2)
    assert rows.tolist() == [3, 33]
    ranked = best_of(np.array([7, 2, 5]), np.array([1.0, 1.0, 2.0]), 2)
    assert [part.tolist() for part in ranked] == [[5, 2], [2.0, 1.0]]
