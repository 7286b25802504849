"""The contract of pel_combiners, and what the linear one learns."""

import json

import numpy as np
import pytest

from spacy_pel.candidates.evidence import FEATURES
from spacy_pel.errors import PelError
from spacy_pel.linking.combiner import (
    DEFAULT_WEIGHTS,
    LinearCombiner,
    conditional_logit,
    is_gold,
    linear_features,
    right_first,
)
from spacy_pel.registry import registry
from spacy_pel.types import CandidateTable

from .tables import laid_out


@pytest.fixture(params=sorted(registry.parts("pel_combiners").values()))
def make(request):
    return registry.pel_combiners.get(request.param)


def make_table(n, seed, best_everywhere=False):
    """Random evidence; the gold entity (row 7) looks good by chance, or in all respects."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 12, size=n)
    counts[:3] = [0, 1, 12]
    kb_rows = laid_out([rng.permutation(20)[:count] for count in counts], -1, np.int64)
    right = kb_rows == 7
    shape = right.shape
    lift = 0.9 if best_everywhere else 0.3
    mixed = np.clip(rng.random(shape) * 0.5 + lift * right * (best_everywhere or rng.random(shape)), 0, 1)
    features = {
        "name": mixed,
        "mention": np.clip(rng.random(shape) * 0.4 + lift * right, 0, 1),
        "vote": np.where(right | (rng.random(shape) < 0.3), 0.3 * mixed, 0),
        "exact": (right & best_everywhere) | (rng.random(shape) < 0.1) & ~right & (not best_everywhere),
        "prior": np.where(right, 0.9, 0) if best_everywhere else (rng.random(shape) < 0.2) * 0.4,
        "seen": np.broadcast_to(rng.random((n, 1)) < 0.5, shape),
        "popularity": rng.random(shape) + 3 * right,
        "edit": mixed,
        "partial": mixed,
        "variant": ~right & (rng.random(shape) < 0.1) & (not best_everywhere),
        **dict.fromkeys(("formula", "derivation", "preferred", "extension", "abbreviation"), np.zeros(shape)),
    }
    features = {name: np.asarray(features[name], dtype=np.float32) for name in FEATURES}
    return CandidateTable(kb_rows, features)


def gold_of(table):
    return [np.array([7], dtype=np.int64)] * len(table)


def share_right(combiner, table):
    right = is_gold(table.kb_rows, gold_of(table))
    return right_first(table, combiner(table), gold_of(table))[right.any(axis=1)].mean()


def test_scores_are_finite_and_the_best_wins(make):
    combiner = make()
    table = make_table(80, 0, best_everywhere=True)
    for _ in range(2):  # before and after fit
        scores = combiner(table)
        assert scores.shape == table.kb_rows.shape and scores.dtype == np.float32
        assert (np.isfinite(scores) == table.filled).all() and (scores[~table.filled] == -np.inf).all()
        assert share_right(combiner, table) == 1.0
        combiner.fit(table, gold_of(table))


def test_same_again_and_apart_or_together(make):
    table = make_table(40, 1)
    combiner = make()
    combiner.fit(table, gold_of(table))
    scores = combiner(table)
    np.testing.assert_array_equal(scores, combiner(table))
    for i in range(len(table)):
        np.testing.assert_allclose(combiner(table.take(np.array([i])))[0], scores[i], rtol=1e-5)
    np.testing.assert_allclose(combiner(table.widened(15))[:, :12], scores, rtol=1e-5)
    assert len(combiner(table.take(np.array([], dtype=np.int64)))) == 0


def test_state_round_trip(make):
    table = make_table(60, 2)
    combiner, other = make(), make()
    combiner.fit(table, gold_of(table))
    other.fit(make_table(60, 3), gold_of(table))  # a differently fitted object
    other.load_state(json.loads(json.dumps(combiner.state())))
    np.testing.assert_array_equal(other(table), combiner(table))


def test_fit_is_deterministic_and_never_worse(make):
    table = make_table(300, 4)
    before = share_right(make(), table)
    fitted = []
    for _ in range(2):
        combiner = make()
        combiner.fit(table, gold_of(table))
        fitted.append(combiner.state())
        assert share_right(combiner, table) >= before
    assert fitted[0] == fitted[1]


def test_the_preferred_name_weighs_as_much_as_two_annotations():
    table = make_table(3, 0).take(np.array([2] * 4))  # 12 candidates
    features = {name: np.zeros_like(values) for name, values in table.features.items()}
    features["prior"][[0, 1, 3], 0], features["preferred"][:3, 1:3] = 1.0, 1.0
    features["seen"] = np.array([[1 / 3], [10 / 12], [0], [1 / 3]], dtype=np.float32) * np.ones((1, 12), np.float32)
    prior = np.exp(linear_features(CandidateTable(table.kb_rows, features))["log_prior"]) - 1e-3
    # annotated once, ten times, never; and once, but no entity is called so
    expected = [[1 / 3, 1 / 3, 1 / 3, 0], [10 / 12, 1 / 12, 1 / 12, 0], [0] * 4, [1, 0, 0, 0]]
    np.testing.assert_allclose(prior[:, :4], expected, atol=1e-6)


def test_linear_scores_are_probabilities():
    table = make_table(50, 5)
    scores = LinearCombiner()(table)
    assert scores[0].tolist() == [-np.inf] * 12, "no candidates"
    np.testing.assert_allclose(np.where(table.filled, scores, 0.0)[1:].sum(axis=1), table.has_candidates[1:], atol=1e-5)


def test_linear_learns_what_separates():
    table = make_table(400, 6)
    combiner = LinearCombiner()
    combiner.fit(table, gold_of(table))
    held_out = make_table(400, 7)
    assert share_right(combiner, held_out) > share_right(LinearCombiner(), held_out) + 0.05
    assert combiner.weights["mention"] > DEFAULT_WEIGHTS["mention"]  # each right candidate has a high one


def test_gradient_equals_finite_differences():
    rng = np.random.default_rng(8)
    filled = np.arange(6) < np.array([[3], [1], [6], [4]])
    right = np.zeros((4, 6), dtype=bool)
    right[[0, 1, 2, 2, 3], [1, 0, 1, 4, 2]] = True  # the third mention has two right candidates
    matrix = np.where(filled[:, :, None], rng.standard_normal((4, 6, 5)), 0.0)
    problem = (matrix, filled, right, 0.1)
    weights = rng.standard_normal(5)
    _, gradient = conditional_logit(weights, *problem)
    for i, step in enumerate(np.eye(5) * 1e-6):
        higher, lower = (conditional_logit(weights + way * step, *problem)[0] for way in (1, -1))
        difference = (higher - lower) / 2e-6
        assert gradient[i] == pytest.approx(difference, abs=1e-6)


def test_several_gold_entities_and_none():
    table = make_table(30, 9)
    gold = [np.array([7, 3]), np.empty(0, np.int64), np.array([19])] * 10
    expected = [[row in rows for row in own] for own, rows in zip(table.kb_rows.tolist(), gold, strict=True)]
    assert is_gold(table.kb_rows, gold).tolist() == expected
    LinearCombiner().fit(table, gold)
    for none in ([np.empty(0, np.int64)] * 30, [np.array([1000])] * 30):
        with pytest.raises(PelError, match="PEL-E420"):
            LinearCombiner().fit(table, none)


def test_foreign_weights_are_refused_and_none_are_the_default():
    combiner = LinearCombiner()
    with pytest.raises(PelError, match="PEL-E421"):
        combiner.load_state({"weights": {"height": 1.0}})
    combiner.fit(make_table(60, 0), gold_of(make_table(60, 0)))
    combiner.load_state({})
    assert combiner.weights == DEFAULT_WEIGHTS


def test_given_weights_are_not_fitted():
    combiner = LinearCombiner(weights={"name": 7.0})
    combiner.fit(make_table(60, 0), gold_of(make_table(60, 0)))
    assert combiner.weights == {**DEFAULT_WEIGHTS, "name": 7.0}
    with pytest.raises(PelError, match="E421"):
        LinearCombiner(weights={"nmae": 7.0})


def test_linear_fits_on_at_most_so_many_mentions():
    table = make_table(900, 7)
    on_all, on_enough, on_some = (LinearCombiner(max_mentions=n) for n in (None, 900, 50))
    for combiner in (on_all, on_enough, on_some):
        combiner.fit(table, gold_of(table))
    assert on_all.state() == on_enough.state() != on_some.state()
    assert share_right(on_some, table) > share_right(LinearCombiner(), table)
    with pytest.raises(PelError, match="E301.*max_mentions >= 1, got 0"):
        LinearCombiner(max_mentions=0)
