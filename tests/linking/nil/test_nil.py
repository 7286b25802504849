"""NIL models: the contract of the registry, the summary numbers, the threshold."""

import json

import numpy as np
import pytest

from spacy_pel import registry
from spacy_pel.errors import PelError
from spacy_pel.evaluation.metrics.recall import average_precision
from spacy_pel.linking.nil import LogisticNil
from spacy_pel.linking.nil.inputs import summarize, summary_names
from spacy_pel.linking.thresholds import best_f1_threshold, precision_threshold

from ..tables import laid_out
from ..tables import table_of as listed

NAMES = sorted(registry.parts("pel_nil").values())


def table_of(counts, rng, gain=None):
    """A table whose "name" cosines are high where gain says so."""
    table = listed([range(count) for count in counts])
    for name in ("name", "mention", "prior"):
        table.features[name] = rng.random(table.kb_rows.shape).astype(np.float32)
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
    table.features["edit"] = np.clip(table.features["name"] - 0.3, 0, 1)  # a similar name
    model = make()
    for fitted in (False, True):
        if fitted:
            model.fit(table, scores, is_nil)
        got = model(table, scores)
        assert got.shape == (len(table),) and got.dtype == np.float32 and np.isfinite(got).all()
        assert got[is_nil].mean() > got[~is_nil].mean() + 0.15
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
    np.testing.assert_allclose(other(fresh, fresh_scores), model(fresh, fresh_scores), atol=1e-6)
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
    got = [dict(zip(summary_names(), row, strict=True)) for row in summarize(table, scores).tolist()]
    assert got[0]["score"] == pytest.approx(0.6)
    assert got[0]["margin"] == pytest.approx(0.3)
    assert got[0]["entropy"] == pytest.approx(-sum(p * np.log(p) for p in (0.1, 0.6, 0.3)))
    assert (got[0]["top_name"], got[0]["best_name"]) == (pytest.approx(0.9), pytest.approx(0.9))
    assert (got[0]["top_exact"], got[0]["best_exact"]) == (0, 1)
    assert (got[0]["top_prior"], got[0]["best_prior"]) == (pytest.approx(0.1), pytest.approx(0.7))
    assert set(got[1].values()) == {0.0}  # no candidates
    assert got[2]["margin"] == pytest.approx(0.25) and got[2]["entropy"] == pytest.approx(0, abs=1e-6)


def test_threshold_equals_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(30):
        scores = (rng.integers(0, 12, 40) / 11).astype(np.float32)  # many equal scores
        is_nil = rng.random(40) < 0.4
        is_nil[0] = True

        def f1(threshold, scores=scores, is_nil=is_nil):
            called = scores > threshold
            return 2 * (called & is_nil).sum() / (called.sum() + is_nil.sum())

        best = max(f1(t) for t in np.linspace(-0.05, 1.05, 200))
        assert f1(best_f1_threshold(scores, is_nil)) == pytest.approx(best)


def test_threshold_may_call_all_nil_and_splits_neighbours():
    assert best_f1_threshold(np.asarray([0.3, 0.2], dtype=np.float32), np.asarray([True, True])) < 0.2
    low = np.float32(0.5)
    high = np.nextafter(low, np.float32(1))
    threshold = best_f1_threshold(np.asarray([low, high], dtype=np.float32), np.asarray([False, True]))
    assert (np.asarray([low, high]) > threshold).tolist() == [False, True]
    with pytest.raises(PelError, match="E610"):
        best_f1_threshold(np.asarray([0.1], dtype=np.float32), np.asarray([False]))


def test_precision_threshold_equals_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(30):
        scores = (rng.integers(0, 12, 40) / 11).astype(np.float32)  # many equal scores
        is_nil = rng.random(40) < 0.5
        grid = np.append(-0.05, (np.arange(11) + 0.5) / 11)
        reached = [t for t in grid if (c := scores > t).any() and (c & is_nil).sum() / c.sum() >= 0.6]
        if not reached:
            with pytest.raises(PelError, match="E614"):
                precision_threshold(scores, is_nil, precision=0.6)
            continue
        found = precision_threshold(scores, is_nil, precision=0.6)
        assert ((scores > found) == (scores > reached[0])).all()


def test_precision_out_of_reach_names_the_best():
    scores = np.asarray([0.9, 0.5], dtype=np.float32)
    with pytest.raises(PelError, match="E614.*0.9.*best is 0.500"):
        precision_threshold(scores, np.asarray([False, True]), precision=0.9)
    with pytest.raises(PelError, match="E613"):
        precision_threshold(scores, np.asarray([False, True]), precision=1.5)
    with pytest.raises(PelError, match="E610"):
        precision_threshold(scores, np.asarray([False, False]), precision=0.5)
