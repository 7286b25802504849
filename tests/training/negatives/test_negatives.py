"""Negative samplers: a contract for every registered one, and each one's own way."""

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.training.negatives import (
    DrawRequest,
    HardNegatives,
    InBatchNegatives,
    MinedNegatives,
    MixedNegatives,
    RandomNegatives,
)

GOLD = [np.array([3]), np.array([0, 7, 9]), np.array([3, 4])]
EXAMPLES = np.array([11, 5, 20])
# the table of another time: example 5 has few, 20 was not mined; 3 is gold of 11 by now
TABLE = MinedNegatives(
    np.array([2, 5, 11]), np.array([[1, 2, 3, 4, 5, 6], [8, 2, -1, -1, -1, -1], [9, 8, 3, 6, 5, 4]], dtype=np.int32)
)
SETTINGS = {
    "spacy-pel.RandomNegatives.v1": [{}, {"shared": True}, {"n_negatives": 3, "in_batch": True}],
    "spacy-pel.HardNegatives.v1": [
        *({}, {"n_negatives": 3}, {"n_negatives": 3, "depth": 6, "in_batch": True}),
        *({"shared": True}, {"n_negatives": 4, "depth": 6, "shared": True}),
    ],
    "spacy-pel.MixedNegatives.v1": [{}, {"shared": True}, {"percent": 0}, {"percent": 100, "n_negatives": 4}],
}
CASES = [
    (name, settings)
    for name in sorted(registry.parts("pel_negatives").values())
    for settings in SETTINGS.get(name, [{}])
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]} {list(case[1])}")
def sampler(request):
    name, settings = request.param
    return registry.pel_negatives.get(name)(**settings)


def request_of(n_rows=1000, seed=0, gold=GOLD, examples=EXAMPLES, mined=TABLE):
    return DrawRequest(examples, gold, n_rows, np.random.default_rng(seed), mined)


def drawn(draw, mention):
    return draw.rows[draw.mask[mention]].tolist()


@pytest.mark.parametrize("n_rows", [10, 1000])
@pytest.mark.parametrize("mined", [TABLE, MinedNegatives.empty()], ids=["mined", "nothing mined"])
def test_contract_never_the_gold(sampler, n_rows, mined):
    for seed in range(20):
        draw = sampler.sample(request_of(n_rows, seed, mined=mined))
        assert draw.rows.dtype == np.int64 and draw.mask.dtype == bool
        assert draw.mask.shape == (len(GOLD), len(draw.rows))
        assert ((draw.rows >= 0) & (draw.rows < n_rows)).all()
        for gold, counts in zip(GOLD, draw.mask, strict=True):
            assert not np.isin(draw.rows[counts], gold).any()


def test_contract_same_seed_same_draw(sampler):
    one, two = (sampler.sample(request_of(seed=5)) for _ in range(2))
    other = sampler.sample(request_of(seed=6))
    assert np.array_equal(one.rows, two.rows) and np.array_equal(one.mask, two.mask)
    assert one.in_batch == two.in_batch
    assert not len(one.rows) or not np.array_equal(one.rows, other.rows)


def test_contract_fewer_entities_than_asked_for(sampler):
    alone = {"gold": [np.array([0])], "examples": np.array([1]), "mined": MinedNegatives.empty()}
    draw = sampler.sample(request_of(2, **alone))
    assert set(drawn(draw, 0)) <= {1}
    assert not sampler.sample(request_of(1, **alone)).mask.any()


def test_contract_empty_batch(sampler):
    draw = sampler.sample(request_of(10, gold=[], examples=np.zeros(0, dtype=np.int64)))
    assert draw.mask.shape == (0, len(draw.rows))


def test_contract_says_how_deep_it_looks(sampler):
    assert isinstance(sampler.mined_depth, int) and sampler.mined_depth >= 0
    # entities beyond the depth make no difference, those within do
    deep = np.tile(np.arange(100, 300, dtype=np.int32), (3, 1))
    examples = np.sort(EXAMPLES)
    full = sampler.sample(request_of(mined=MinedNegatives(examples, deep)))
    cut = sampler.sample(request_of(mined=MinedNegatives(examples, deep[:, : sampler.mined_depth])))
    assert np.array_equal(full.rows, cut.rows) and np.array_equal(full.mask, cut.mask)
    if sampler.mined_depth:
        shifted = sampler.sample(request_of(mined=MinedNegatives(examples, deep + 500)))
        assert not np.array_equal(full.rows, shifted.rows)


# -- random ------------------------------------------------------------------------------------


def test_random_negatives_of_each_mention_are_its_own():
    draw = RandomNegatives(n_negatives=50).sample(request_of(100_000))
    assert len(draw.rows) == 150 and not draw.in_batch
    owner = np.repeat(np.arange(3), 50)
    assert np.array_equal(draw.mask, owner == np.arange(3)[:, None])  # chance met no gold in this draw


def test_shared_random_negatives_serve_the_whole_batch():
    draw = RandomNegatives(n_negatives=50, shared=True).sample(request_of(10))
    assert len(draw.rows) == 50
    for gold, counts in zip(GOLD, draw.mask, strict=True):
        assert np.array_equal(counts, ~np.isin(draw.rows, gold))
        assert counts.any() and not counts.all()


def test_random_negatives_are_uniform():
    request = request_of(10, gold=[np.array([0])], examples=np.array([0]))
    draw = RandomNegatives(n_negatives=20_000, shared=True).sample(request)
    shares = np.bincount(draw.rows, minlength=10) / 20_000
    np.testing.assert_allclose(shares, 0.1, atol=0.01)


def test_in_batch_negatives_draw_nothing():
    draw = InBatchNegatives().sample(request_of(10))
    assert len(draw.rows) == 0 and draw.in_batch


# -- hard --------------------------------------------------------------------------------------


def test_hard_negatives_are_the_nearest_that_are_not_gold():
    draw = HardNegatives(n_negatives=4).sample(request_of())
    assert drawn(draw, 0) == [6, 8, 9], "3 became gold after the mining"
    assert {2, 8} < set(drawn(draw, 1)), "and two random ones"
    assert 3 <= len(drawn(draw, 1)) <= 4
    assert len(drawn(draw, 2)) in (3, 4), "not mined: all random"
    assert len(set(draw.rows.tolist())) == len(draw.rows), "each entity is encoded once"


def test_a_depth_changes_the_draw_from_batch_to_batch():
    request = {"gold": GOLD[:1], "examples": EXAMPLES[:1]}
    met = [
        set(drawn(HardNegatives(n_negatives=2, depth=6).sample(request_of(seed=seed, **request)), 0))
        for seed in range(60)
    ]
    assert set().union(*met) == {4, 5, 6, 8, 9} and max(map(len, met)) == 2
    # each of the six is drawn in a third of the cases; 3 is dropped as gold
    for entity in (4, 9):
        assert 8 <= sum(entity in draw for draw in met) <= 34


def test_shared_hard_negatives_take_from_each_mention_in_turn():
    table = MinedNegatives(np.arange(4), np.arange(40, 80, dtype=np.int32).reshape(4, 10))
    request = DrawRequest(np.arange(4), [np.array([i]) for i in range(4)], 100, np.random.default_rng(0), table)
    draw = HardNegatives(n_negatives=8, depth=10, shared=True).sample(request)
    assert len(draw.rows) == 8 and draw.mask.all()
    assert np.bincount((draw.rows - 40) // 10).tolist() == [2, 2, 2, 2]


# -- mixed and composed ------------------------------------------------------------------------


@pytest.mark.parametrize(("percent", "n_hard"), [(0, 0), (25, 2), (50, 4), (100, 8)])
@pytest.mark.parametrize("shared", [True, False])
def test_mixed_negatives_have_their_share(percent, n_hard, shared):
    """Each mention has hard ones of its own 16 nearest, 100 to 115, 116 to 131, …; or the batch shares."""
    table = MinedNegatives(np.arange(5), np.arange(100, 180, dtype=np.int32).reshape(5, 16))
    sampler = MixedNegatives(n_negatives=8, percent=percent, depth=16, shared=shared)
    assert sampler.mined_depth == (16 if n_hard else 0)
    examples = np.array([4, 0, 2])
    request = DrawRequest(examples, [np.array([1])] * 3, 10**9, np.random.default_rng(0), table)
    draw = sampler.sample(request)
    assert len(draw.rows) == (8 if shared else 3 * 8) and not draw.in_batch
    for mention, example in enumerate(examples):
        rows = np.array(drawn(draw, mention))
        hard = rows[(rows >= 100) & (rows < 180)]
        assert (len(rows), len(hard)) == (8, n_hard)
        assert shared or set((hard - 100) // 16) <= {example}, "the nearest of the mention itself"


# -- the table ---------------------------------------------------------------------------------


def test_table_on_disk(tmp_path):
    TABLE.to_disk(tmp_path / "table")
    loaded = MinedNegatives.from_disk(tmp_path / "table")
    assert isinstance(loaded.rows, np.memmap)
    assert np.array_equal(loaded.rows, TABLE.rows) and np.array_equal(loaded.examples, TABLE.examples)
    whole = (tmp_path / "table" / "rows.npy").read_bytes()
    (tmp_path / "table" / "rows.npy").write_bytes(whole[:-4])
    with pytest.raises(PelError, match="E320"):
        MinedNegatives.from_disk(tmp_path / "table")
    with pytest.raises(PelError, match="E320"):
        MinedNegatives.from_disk(tmp_path / "nowhere")


# -- bad settings ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "settings", "error"),
    [
        *((kind, {"n_negatives": 0}, "E301.*n_negatives") for kind in (RandomNegatives, HardNegatives, MixedNegatives)),
        *((kind, {"depth": 0}, "E301.*depth") for kind in (HardNegatives, MixedNegatives)),
        *((MixedNegatives, {"percent": percent}, "E301.*percent >= 0 and <= 100") for percent in (-1, 101)),
    ],
)
def test_bad_settings(kind, settings, error):
    with pytest.raises(PelError, match=error):
        kind(**settings)
