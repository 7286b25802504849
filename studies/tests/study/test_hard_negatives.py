"""A mention's own hard negatives, as a study counts them, against draws."""

from types import SimpleNamespace

import numpy as np
import pytest
from spacy_pel_studies.study.hard_negatives import own_hard_negatives

from spacy_pel.training.negatives import (
    DrawRequest,
    HardNegatives,
    InBatchNegatives,
    MinedNegatives,
    MixedNegatives,
    RandomNegatives,
)

OWN_HARD = [
    (HardNegatives(n_negatives=6), 6),
    (HardNegatives(n_negatives=6, depth=20), 6),
    (HardNegatives(n_negatives=16, shared=True), 2),
    (HardNegatives(n_negatives=4, depth=20, shared=True), 0.5),
    (MixedNegatives(n_negatives=16), 8),
    (MixedNegatives(n_negatives=16, percent=25, depth=20, in_batch=True), 4),
    (MixedNegatives(n_negatives=64, shared=True), 4),
    (MixedNegatives(n_negatives=16, percent=0), 0),
    (RandomNegatives(n_negatives=16), 0),
    (RandomNegatives(n_negatives=64, shared=True), 0),
    (InBatchNegatives(), 0),
]


@pytest.mark.parametrize(("sampler", "expected"), OWN_HARD, ids=lambda value: type(value).__name__)
def test_hard_negatives_of_a_mentions_own_are_counted_in_draws(sampler, expected):
    """Entities 100 i to 100 i + 99 were mined for mention i of 8; all others lie far above."""
    n = 8
    mined = np.arange(n)[:, None] * 100 + np.arange(100, dtype=np.int32)
    table = MinedNegatives(np.arange(n), mined.astype(np.int32))
    gold = [np.array([5000 + i]) for i in range(n)]
    counts, of_others = [], []
    for seed in range(20):
        request = DrawRequest(np.arange(n), gold, 10**9, np.random.default_rng(seed), table)
        draw = sampler.sample(request)
        counts.append([(draw.rows[own] // 100 == i).sum() for i, own in enumerate(draw.mask)])
        of_others.append([(draw.rows[own] < 100 * n).sum() for own in draw.mask])
    of_others = np.array(of_others) - counts
    assert own_hard_negatives(sampler, n) == expected == np.mean(counts)
    # a shared draw of h has h / n for each mention, and the rest are the nearest to others
    assert (of_others.mean() == (n - 1) * expected) if getattr(sampler, "shared", False) else not of_others.any()
    if expected >= 1:
        assert (np.array(counts) == expected).all(), "not the same for every mention"


def test_a_sampler_that_mines_and_does_not_count_is_unknown():
    class Nearest:
        mined_depth = 3

    assert own_hard_negatives(Nearest(), 8) is None
    assert own_hard_negatives(SimpleNamespace(parts={"a": Nearest()}, mined_depth=3), 8) is None
