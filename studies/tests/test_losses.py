"""The studies' losses keep the contract of losses; their papers' equations in closed form, in float64."""

import math

import numpy as np
import pytest
import torch
from spacy_pel_studies.mixup import BinaryCrossEntropy
from training import test_losses
from training.test_losses import (
    batch,
    loss,
    name,
    offset_of,
    test_contract_equals_the_formula,
    test_contract_finite_at_the_ends,
    test_contract_gradient_is_that_of_finite_differences,
    test_contract_gradient_reaches_both_sides_and_only_what_counts,
    test_contract_masked_values_do_not_matter,
)

from spacy_pel.errors import PelError

__all__ = [
    "loss",
    "name",
    "test_contract_equals_the_formula",
    "test_contract_finite_at_the_ends",
    "test_contract_gradient_is_that_of_finite_differences",
    "test_contract_gradient_reaches_both_sides_and_only_what_counts",
    "test_contract_masked_values_do_not_matter",
]
BINARY, TRIPLET = "spacy-pel.BinaryCrossEntropy.v1", "spacy-pel.Triplet.v1"


@pytest.fixture(params=[(BINARY, {}), (BINARY, {"offset": None}), (TRIPLET, {}), (TRIPLET, {"squared": True})], ids=str)
def case(request, monkeypatch):
    monkeypatch.setattr(test_losses, "SLOW", {BINARY: slow_binary_cross_entropy, TRIPLET: slow_triplet})
    return request.param


def slow_triplet(loss, positive, negatives):
    """Le & Nguyen (2023), from distances d = -s: Eq. 2, with squared norms, or Eq. 3, without; of the
    triplets with each negative, that of the nearest counts, which is the largest."""
    norms = [abs(s) ** 2 if loss.squared else abs(s) for s in (positive, *negatives)]
    return max([0.0, *(norms[0] - other + loss.margin for other in norms[1:])])


def slow_binary_cross_entropy(loss, positive, negatives):
    """Section 3.4 of Cai et al. (2023) as it is written, about the offset."""
    logits = [loss.scale * (s - offset_of(loss)) for s in (positive, *negatives)]
    sigma = [1 / (1 + math.exp(-logit)) for logit in logits]
    return -math.log(sigma[0]) - sum(math.log(1 - one) for one in sigma[1:])


def test_large_dot_products():
    """Unscaled vectors have products in the thousands."""
    for sign in (1, -1):
        positives = torch.tensor([3000.0 * sign, 0.0], requires_grad=True)
        negatives = torch.tensor([[-3000.0 * sign, 2500.0], [-3000.0, 0.0]], requires_grad=True)
        values = BinaryCrossEntropy()(positives, negatives, torch.ones((2, 2), dtype=torch.bool))
        values.sum().backward()
        assert all(torch.isfinite(x).all() for x in (values, positives.grad, negatives.grad))
        assert (values >= 0).all() and (sign > 0 or values[0] > 1000)


@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("m", [1, 64])
def test_the_offset_of_the_first_batch_lets_it_pull_as_hard_as_it_pushes(scale, m):
    rng = np.random.default_rng(m)
    positives, negatives, _ = batch(n=50, m=m, seed=m)
    mask = torch.tensor(rng.random((50, m)) < 0.8)
    made = BinaryCrossEntropy(offset=None, scale=scale)
    made(positives, negatives, mask).sum().backward()
    pull, push = -float(positives.grad.sum()), float(negatives.grad.sum())
    assert pull == pytest.approx(push, rel=1e-4) and made.metrics == {"offset": offset_of(made)}


def test_a_scale_of_0_is_an_error():
    with pytest.raises(PelError, match="E301.*scale > 0 and <= 10,000, got 0"):
        BinaryCrossEntropy(scale=0)
