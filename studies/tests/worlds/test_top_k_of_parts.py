"""The nearest entities within parts, against each part alone."""

import numpy as np
from spacy_pel_studies.worlds.top_k_of_parts import PartsTopK


def test_the_nearest_of_each_part():
    """Also where a part has fewer entities than are asked for, or no query."""
    rng = np.random.default_rng(0)
    queries, entities = (rng.normal(size=(n, 8)).astype(np.float32) for n in (50, 300))
    of_entity = rng.permutation(np.repeat([0, 1, 2, 3], [12, 100, 180, 8]))
    of_query = np.arange(50) % 3
    search = PartsTopK(queries, 20, of_query, of_entity)
    for first in range(4):
        rows = np.arange(first, 300, 4)
        search.add(rows, entities[rows])
    scores, rows = search.result()
    for i, part in enumerate(of_query):
        members = np.flatnonzero(of_entity == part)
        exact = entities[members].astype(np.float64) @ queries[i].astype(np.float64)
        n = min(20, len(members))
        assert (rows[i, n:] == -1).all() and np.isneginf(scores[i, n:]).all()
        assert (of_entity[rows[i, :n]] == part).all()
        np.testing.assert_allclose(scores[i, :n], np.sort(exact)[::-1][:n], atol=1e-5)
        assert rows[i, :n].tolist() == members[np.argsort(-exact)][:n].tolist()
