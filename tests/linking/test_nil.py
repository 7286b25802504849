"""NIL models: the contract of the registry, the summary numbers, what only a network learns."""

import json

import numpy as np
import pytest

from spacy_pel import registry
from spacy_pel.errors import PelError
from spacy_pel.evaluation.metrics.all_metrics import average_precision
from spacy_pel.linking.nil import SUMMARY, LogisticNil, NetworkNil, summarize

from .tables import laid_out
from .tables import table_of as listed

NAMES = sorted(registry.parts("pel_nil").values())


def table_of(counts, rng, gain=None):
    """A table whose "name" cosines are high where gain says so."""
    table = listed([range(count) for count in counts])
    for name in ("name", "mention", "prior"):
        table.features[name] = rng.random(table.kb_rows.shape).astype(np.float32)
    table.features["vote"] = np.zeros(table.kb_rows.shape, dtype=np.float32)
    if gain is not None:
        table.features["name"] += gain[:, None].astype(np.float32)
    return table


def by_name(table):
    """Scores: the cosines."""
    return np.where(table.filled, table.features["name"], -np.inf)


def labelled(rng, n=400):
    is_nil = rng.random(n) < 0.3
    table = table_of(rng.integers(1, 6, n), rng, gain=np.where(is_nil, 0.0, 0.6))
    return table, by_name(table), is_nil


@pytest.mark.parametrize("name", NAMES)
def test_contract(name):
    rng = np.random.default_rng(0)
    make = registry.pel_nil.get(name)
    table, scores, is_nil = labelled(rng)
    table.features["edit"] = table.features["partial"] = np.clip(table.features["name"] - 0.3, 0, 1)  # a similar name
    model = make()
    for fitted in (False, True):
        if fitted:
            model.fit(table, scores, is_nil)
        got = model(table, scores)
        assert got.shape == (len(table),) and got.dtype == np.float32 and np.isfinite(got).all()
        assert got[is_nil].mean() > got[~is_nil].mean() + 0.2
        other = make()
        other.load_state(json.loads(json.dumps(model.state())))
        assert np.allclose(other(table, scores), got, atol=1e-6)
    empty = table_of([0, 3, 0], rng)
    assert model(empty, by_name(empty))[[0, 2]].tolist() == [1.0, 1.0]
    nothing = table_of([], rng)
    assert model(nothing, by_name(nothing)).shape == (0,)


def test_logistic_is_a_probability():
    rng = np.random.default_rng(1)
    table, scores, is_nil = labelled(rng, 2000)
    model = LogisticNil()
    model.fit(table, scores, is_nil)
    fresh, fresh_scores, fresh_nil = labelled(rng, 2000)
    probability = model(fresh, fresh_scores)
    assert probability.min() >= 0 and probability.max() <= 1
    assert abs(probability.mean() - fresh_nil.mean()) < 0.03  # calibrated in the large
    assert ((probability > 0.5) == fresh_nil).mean() > 0.85


def with_vectors(n, seed):
    """Only the vectors tell: NIL mentions lie on one side of a direction of large variance."""
    rng = np.random.default_rng(seed)
    table = table_of(rng.integers(1, 4, n), rng)
    table.vectors = rng.standard_normal((n, 6)).astype(np.float32) * np.array([1, 3, 1, 1, 1, 1])
    return table, by_name(table), table.vectors[:, 1] + 0.3 * rng.standard_normal(n) > 1.5


def test_logistic_learns_from_directions_of_the_vectors():
    table, scores, is_nil = with_vectors(800, 0)
    fresh, fresh_scores, fresh_nil = with_vectors(400, 1)
    found = {}
    for directions in (0, 1, 16):
        model = LogisticNil(directions=directions)
        model.fit(table, scores, is_nil)
        assert len(model.state()["directions"]) == min(directions, 6)
        found[directions] = average_precision(model(fresh, fresh_scores), fresh_nil)
    assert found[0] < 0.5 and found[1] > 0.9 and found[16] > 0.9
    other = LogisticNil()
    other.load_state(json.loads(json.dumps(model.state())))
    assert np.allclose(other(fresh, fresh_scores), model(fresh, fresh_scores), atol=1e-6)
    for vectors in (None, fresh.vectors[:, :3]):
        fresh.vectors = vectors
        with pytest.raises(PelError, match="E615"):
            other(fresh, fresh_scores)


def test_summary_by_hand():
    table = listed(
        [[0, 1, 2], [], [3]],
        name=[[0.2, 0.9, 0.5], [], [0.4]],
        exact=[[1, 0, 0], [], [1]],
        prior=[[0.7, 0.1, 0], [], [0]],
    )
    scores = laid_out([[0.1, 0.6, 0.3], [], [0.25]])
    got = [dict(zip(SUMMARY, row, strict=True)) for row in summarize(table, scores).tolist()]
    assert got[0]["score"] == pytest.approx(0.6)
    assert got[0]["margin"] == pytest.approx(0.3)
    assert got[0]["entropy"] == pytest.approx(-sum(p * np.log(p) for p in (0.1, 0.6, 0.3)))
    assert (got[0]["top_name"], got[0]["best_name"]) == (pytest.approx(0.9), pytest.approx(0.9))
    assert (got[0]["top_exact"], got[0]["best_exact"]) == (0, 1)
    assert (got[0]["top_prior"], got[0]["best_prior"]) == (pytest.approx(0.1), pytest.approx(0.7))
    assert set(got[1].values()) == {0.0}  # no candidates
    assert got[2]["margin"] == pytest.approx(0.25) and got[2]["entropy"] == pytest.approx(0, abs=1e-6)


# -- networks ---------------------------------------------------------------------------------------


def by_kind(n, seed):
    """Two candidates each. A good score tells NIL of one kind of mention, and the opposite of the other."""
    rng = np.random.default_rng(seed)
    table = listed([[0, 1]] * n, name=rng.random((n, 2)), prior=rng.random((n, 2)))
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


def test_what_it_refuses():
    table, scores, is_nil = by_kind(100, 4)
    with pytest.raises(PelError, match="E610"):
        NetworkNil().fit(table, scores, np.zeros_like(is_nil))
    with pytest.raises(PelError, match="E611"):
        NetworkNil().load_state({"columns": ["height"], "networks": []})


@pytest.mark.parametrize(("name", "value"), [("hidden", 0), ("l2", float("nan"))])
def test_settings_that_make_no_network(name, value):
    with pytest.raises(PelError, match=f"E301.*{name} >= [01], got {value}"):
        NetworkNil(**{name: value})
