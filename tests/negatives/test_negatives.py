"""Negative samplers: a contract for every registered one, and each one's own way."""

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.negatives.in_batch_negatives import InBatchNegatives
from spacy_pel.negatives.random_negatives import RandomNegatives
from spacy_pel.registry import registry

GOLD = [np.array([3]), np.array([0, 7, 9]), np.array([3, 4])]
SETTINGS = {"spacy-pel.RandomNegatives.v1": [{}, {"shared": True}, {"n_negatives": 3, "in_batch": True}]}
CASES = [
    (name, settings)
    for name in sorted(registry.parts("pel_negatives").values())
    for settings in SETTINGS.get(name, [{}])
]


@pytest.fixture(params=CASES, ids=str)
def sampler(request):
    name, settings = request.param
    return registry.pel_negatives.get(name)(**settings)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("n_rows", [10, 1000])
def test_contract_never_the_gold(sampler, n_rows):
    for seed in range(20):
        draw = sampler.sample(GOLD, n_rows, rng(seed))
        assert draw.rows.dtype == np.int64 and draw.mask.dtype == bool
        assert draw.mask.shape == (len(GOLD), len(draw.rows))
        assert ((draw.rows >= 0) & (draw.rows < n_rows)).all()
        for gold, counts in zip(GOLD, draw.mask, strict=True):
            assert not np.isin(draw.rows[counts], gold).any()


def test_contract_same_seed_same_draw(sampler):
    one, two = (sampler.sample(GOLD, 1000, rng(5)) for _ in range(2))
    other = sampler.sample(GOLD, 1000, rng(6))
    assert np.array_equal(one.rows, two.rows) and np.array_equal(one.mask, two.mask)
    assert one.in_batch == two.in_batch
    assert not len(one.rows) or not np.array_equal(one.rows, other.rows)


def test_contract_fewer_entities_than_asked_for(sampler):
    draw = sampler.sample([np.array([0])], 2, rng())
    assert set(draw.rows[draw.mask[0]].tolist()) <= {1}
    only_gold = sampler.sample([np.array([0])], 1, rng())
    assert not only_gold.mask.any()


def test_contract_empty_batch(sampler):
    draw = sampler.sample([], 10, rng())
    assert draw.mask.shape == (0, len(draw.rows))


def test_random_negatives_of_each_mention_are_its_own():
    draw = RandomNegatives(n_negatives=50).sample(GOLD, 100_000, rng())
    assert len(draw.rows) == 150 and not draw.in_batch
    owner = np.repeat(np.arange(3), 50)
    assert np.array_equal(draw.mask, owner == np.arange(3)[:, None])  # chance met no gold in this draw


def test_shared_random_negatives_serve_the_whole_batch():
    draw = RandomNegatives(n_negatives=50, shared=True).sample(GOLD, 10, rng())
    assert len(draw.rows) == 50
    for gold, counts in zip(GOLD, draw.mask, strict=True):
        assert np.array_equal(counts, ~np.isin(draw.rows, gold))
        assert counts.any() and not counts.all()


def test_random_negatives_are_uniform():
    draw = RandomNegatives(n_negatives=20_000, shared=True).sample([np.array([0])], 10, rng())
    shares = np.bincount(draw.rows, minlength=10) / 20_000
    np.testing.assert_allclose(shares, 0.1, atol=0.01)


def test_in_batch_negatives_draw_nothing():
    draw = InBatchNegatives().sample(GOLD, 10, rng())
    assert len(draw.rows) == 0 and draw.in_batch


def test_a_draw_of_none_is_refused():
    with pytest.raises(PelError, match="n_negatives"):
        RandomNegatives(n_negatives=0)
