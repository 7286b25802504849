"""NetworkNil: what it can learn and logistic regression cannot, its seed, its saved state."""

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.evaluation.metrics.recall import average_precision
from spacy_pel.linking.nil import LogisticNil, NetworkNil

from ..tables import table_of


def by_kind(n, seed):
    """Two candidates each. A good score tells NIL of one kind of mention, and the opposite of the other."""
    rng = np.random.default_rng(seed)
    table = table_of([[0, 1]] * n, name=rng.random((n, 2)), prior=rng.random((n, 2)))
    table.vectors = rng.standard_normal((n, 4)).astype(np.float32) * np.array([2, 1, 1, 1], np.float32)
    best = table.features["name"].max(axis=1)
    return table, table.features["name"], (best > np.median(best)) == (table.vectors[:, 0] > 0)


@pytest.fixture(scope="module")
def fitted():
    table, scores, is_nil = by_kind(3000, 0)
    model = NetworkNil(hidden=16, members=2, directions=2)
    model.fit(table, scores, is_nil)
    return model


def test_it_learns_what_a_score_is_worth_by_kind(fitted):
    table, scores, is_nil = by_kind(1000, 1)
    logistic = LogisticNil(directions=2)
    logistic.fit(*by_kind(3000, 0))
    assert average_precision(logistic(table, scores), is_nil) < 0.6
    probability = fitted(table, scores)
    assert average_precision(probability, is_nil) > 0.95
    assert abs(probability.mean() - is_nil.mean()) < 0.03  # calibrated in the large


def test_the_same_seed_gives_the_same_networks(fitted):
    again = NetworkNil(hidden=16, members=2, directions=2)
    again.fit(*by_kind(3000, 0))
    assert again.state() == fitted.state()
    table, scores, _ = by_kind(200, 3)
    again.load_state({})  # as before any fit
    assert again.state() == {}
    np.testing.assert_allclose(again(table, scores), 1 - scores.max(axis=1), atol=1e-6)


def test_what_it_refuses(fitted):
    table, scores, is_nil = by_kind(100, 4)
    with pytest.raises(PelError, match="E610"):
        NetworkNil().fit(table, scores, np.zeros_like(is_nil))
    with pytest.raises(PelError, match="E611"):
        NetworkNil().load_state({"columns": ["height"], "networks": []})
    table.vectors = table.vectors[:, :3]
    with pytest.raises(PelError, match="E615"):
        fitted(table, scores)


@pytest.mark.parametrize(("name", "value"), [("hidden", 0), ("l2", float("nan"))])
def test_settings_that_make_no_network(name, value):
    with pytest.raises(PelError, match=f"E301.*{name} >= [01], got {value}"):
        NetworkNil(**{name: value})
