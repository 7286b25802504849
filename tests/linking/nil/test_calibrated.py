"""Platt's sigmoid and isotonic regression against their definitions; thresholds for a precision."""

import json

import numpy as np
import pytest
from spacy.util import registry as spacy_registry

from spacy_pel.errors import PelError
from spacy_pel.linking.nil import IsotonicNil, LogisticNil, PlattNil, ScoreThreshold, precision_threshold
from spacy_pel.types import CandidateTable


def one_candidate(best):
    """One candidate per mention, with this score."""
    best = np.asarray(best, dtype=np.float32)
    offsets = np.arange(len(best) + 1, dtype=np.int64)
    return CandidateTable(np.arange(len(best)), offsets, {"name": best}), best


def drawn(n, seed=0):
    """x is uniform and P(NIL | x) = x ** 3: neither x itself nor a sigmoid of it."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    return one_candidate(1 - x), rng.random(n) < x**3, x


def test_platt_minimises_the_loss_of_his_targets():
    """Oracle: a literal transcription of Platt's criterion, minimised by another optimiser."""
    from scipy.optimize import minimize

    (table, scores), is_nil, _ = drawn(300)
    x = (1.0 - scores).astype(np.float64)
    n_nil, n_other = int(is_nil.sum()), int((~is_nil).sum())
    target = np.where(is_nil, (n_nil + 1) / (n_nil + 2), 1 / (n_other + 2))

    def loss(weights):
        p = 1 / (1 + np.exp(-(weights[0] * x + weights[1])))
        return -np.sum(target * np.log(p) + (1 - target) * np.log(1 - p))

    slope, intercept = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9}).x
    model = PlattNil()
    model.fit(table, scores, is_nil)
    assert model.state() == {"slope": pytest.approx(slope, 1e-3), "intercept": pytest.approx(intercept, 1e-3)}
    assert model(table, scores) == pytest.approx(1 / (1 + np.exp(-(slope * x + intercept))), abs=1e-4)


def test_platt_is_not_certain_of_few_mentions():
    table, scores = one_candidate([0.9, 0.8, 0.2, 0.1])
    model = PlattNil()
    model.fit(table, scores, np.asarray([False, False, True, True]))
    given = model(table, scores)
    assert given[3] < 0.99 and given[0] > 0.01  # without softened targets these are 1 and 0


def test_isotonic_by_hand():
    # x = 0.1 0.2 0.3 0.4 0.5, NIL at 0.2 0.4 0.5: the pair 0.2, 0.3 violates the order and becomes 1/2
    table, scores = one_candidate([0.9, 0.8, 0.7, 0.6, 0.5])
    model = IsotonicNil()
    model.fit(table, scores, np.asarray([False, True, False, True, True]))
    given = model(table, scores)
    assert given == pytest.approx([0, 0.5, 0.5, 1, 1], abs=2e-3)
    assert (np.diff(given) > 0).all()  # steps rise a little
    outside, its_scores = one_candidate([1.0, 0.65, 0.0])
    assert model(outside, its_scores) == pytest.approx([0, 0.75, 1], abs=2e-3)  # clipped, interpolated


@pytest.mark.parametrize("make", [PlattNil, IsotonicNil])
def test_order_stays_and_probabilities_come_near(make):
    (table, scores), is_nil, _ = drawn(3000)
    model = make()
    model.fit(table, scores, is_nil)
    (fresh, fresh_scores), _, x = drawn(3000, seed=1)
    given = model(fresh, fresh_scores)
    assert given.dtype == np.float32 and 0 <= given.min() and given.max() <= 1
    raw = (1 - fresh_scores)[np.argsort(x)]
    inside = (raw > 0.01) & (raw < 0.99)  # beyond the development set's own ends steps are level
    assert (np.diff(given[np.argsort(x)][inside]) >= 0).all()
    before = np.abs((1 - fresh_scores) - x**3).mean()
    assert np.abs(given - x**3).mean() < (0.03 if make is IsotonicNil else 0.08) < before


@pytest.mark.parametrize("make", [PlattNil, IsotonicNil])
def test_a_base_is_fitted_along_and_saved(make):
    (table, scores), is_nil, _ = drawn(400)
    model = make(base=LogisticNil())
    model.fit(table, scores, is_nil)
    state = json.loads(json.dumps(model.state()))
    assert state["base"]["kind"] == "LogisticNil" and "weights" in state["base"]["state"]
    other = make(base=LogisticNil())
    other.load_state(state)
    assert np.allclose(other(table, scores), model(table, scores), atol=1e-6)
    for wrong in (make(), make(base=ScoreThreshold())):
        with pytest.raises(PelError, match="E612.*LogisticNil"):
            wrong.load_state(state)
    with pytest.raises(PelError, match="E612.*nothing"):
        make(base=LogisticNil()).load_state({"base": state["base"]})
    model.load_state({})
    assert model.state() == {}


@pytest.mark.parametrize("make", [PlattNil, IsotonicNil])
def test_needs_both_kinds(make):
    (table, scores), is_nil, _ = drawn(20)
    for labels in (np.zeros_like(is_nil), np.ones_like(is_nil)):
        with pytest.raises(PelError, match="E610"):
            make().fit(table, scores, labels)


def test_precision_threshold_by_hand():
    scores = np.asarray([0.9, 0.8, 0.7, 0.6, 0.4, 0.1], dtype=np.float32)
    is_nil = np.asarray([True, False, True, True, False, False])
    # precision going down: 1, 1/2, 2/3, 3/4, 3/5, 1/2
    assert precision_threshold(scores, is_nil, precision=0.75) == pytest.approx(0.5)
    assert precision_threshold(scores, is_nil, precision=0.7) == pytest.approx(0.5)  # 2/3 does not matter
    assert precision_threshold(scores, is_nil, precision=0.76) == pytest.approx(0.85)
    assert precision_threshold(scores, is_nil, precision=1.0) == pytest.approx(0.85)
    assert precision_threshold(scores, is_nil, precision=0.5) < 0.1


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


@pytest.mark.parametrize("name", ["PlattNil", "IsotonicNil"])
def test_a_base_can_be_named_in_a_config(name):
    base = {"@pel_nil": "spacy-pel.LogisticNil.v1", "l2": 3.0}
    made = spacy_registry.resolve({"nil": {"@pel_nil": f"spacy-pel.{name}.v1", "base": base}})["nil"]
    assert (type(made).__name__, made.base.l2) == (name, 3.0)
    assert spacy_registry.resolve({"nil": {"@pel_nil": f"spacy-pel.{name}.v1"}})["nil"].base is None
