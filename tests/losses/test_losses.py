"""Losses: a contract for every registered one, and Eq. 4 for the proxy-based loss."""

import math

import numpy as np
import pytest
import torch

from spacy_pel.losses.in_batch_softmax import InBatchSoftmax
from spacy_pel.losses.proxy_softplus import ProxySoftplus
from spacy_pel.registry import registry


def slow_proxy_softplus(loss, positive, negatives):
    """Eq. 3 as it is written."""
    pull = math.log1p(math.exp(-loss.alpha * (positive - loss.margin)))
    return pull + math.log1p(sum(math.exp(loss.alpha * (s + loss.margin)) for s in negatives))


def slow_in_batch_softmax(loss, positive, negatives):
    """Eq. 1 as it is written."""
    own = math.exp(loss.scale * positive)
    return -math.log(own / (own + sum(math.exp(loss.scale * s) for s in negatives)))


SLOW = {
    "spacy-pel.ProxySoftplus.v1": slow_proxy_softplus,
    "spacy-pel.InBatchSoftmax.v1": slow_in_batch_softmax,
}
NAMES = sorted(registry.parts("pel_losses").values())


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def loss(name):
    return registry.pel_losses.get(name)()


def batch(dtype=torch.float64, n=6, m=9, seed=0):
    """Similarities in [-1, 1] and a mask, the last row of which is all False."""
    rng = np.random.default_rng(seed)
    positives = torch.tensor(rng.uniform(-1, 1, n), dtype=dtype, requires_grad=True)
    negatives = torch.tensor(rng.uniform(-1, 1, (n, m)), dtype=dtype, requires_grad=True)
    mask = torch.tensor(rng.random((n, m)) < 0.6)
    mask[0], mask[-1] = True, False
    return positives, negatives, mask


def test_contract_equals_the_formula(name, loss):
    positives, negatives, mask = batch()
    values = loss(positives, negatives, mask)
    assert values.shape == (6,) and values.dtype == torch.float64
    positives, negatives = positives.detach(), negatives.detach()
    expected = [
        SLOW[name](loss, float(positive), [float(s) for s, counts in zip(row, used, strict=True) if counts])
        for positive, row, used in zip(positives, negatives, mask, strict=True)
    ]
    np.testing.assert_allclose(values.detach().numpy(), expected, rtol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_contract_finite_at_the_ends(loss, dtype):
    if hasattr(loss, "alpha"):
        assert loss.alpha == 32
    for positive in (-1.0, 0.0, 1.0):
        for negative in (-1.0, 0.0, 1.0):
            positives = torch.full((2,), positive, dtype=dtype, requires_grad=True)
            negatives = torch.full((2, 2048), negative, dtype=dtype, requires_grad=True)
            mask = torch.ones((2, 2048), dtype=torch.bool)
            mask[1] = False
            values = loss(positives, negatives, mask)
            assert values.dtype == torch.float32, "halves are widened before they are scaled"
            values.sum().backward()
            assert torch.isfinite(values).all() and (values >= 0).all()
            assert torch.isfinite(positives.grad).all() and torch.isfinite(negatives.grad).all()


def test_contract_gradient_reaches_both_sides_and_only_what_counts(loss):
    positives, negatives, mask = batch()
    loss(positives, negatives, mask).sum().backward()
    assert (positives.grad[:-1] < 0).all(), "a positive is pulled"
    assert (negatives.grad[mask] > 0).all(), "negatives are pushed"
    assert (negatives.grad[~mask] == 0).all()


def test_contract_gradient_is_that_of_finite_differences(loss):
    positives, negatives, mask = batch(n=3, m=4)
    assert torch.autograd.gradcheck(lambda p, n: loss(p, n, mask), (positives, negatives))


def test_contract_masked_values_do_not_matter(loss):
    positives, negatives, mask = batch()
    other = torch.where(mask, negatives, torch.full_like(negatives, 1e4))
    assert torch.equal(loss(positives, negatives, mask), loss(positives, other, mask))
    none = torch.zeros((6, 0), dtype=torch.float64)
    alone = loss(positives, none, none.bool())
    assert torch.equal(alone[-1:], loss(positives, negatives, mask)[-1:])


@pytest.mark.parametrize(("alpha", "margin"), [(32.0, 0.0), (32.0, 0.1), (4.0, 0.05)])
def test_gradients_of_proxy_softplus_are_eq_4(alpha, margin):
    positives, negatives, mask = batch(seed=1)
    ProxySoftplus(alpha=alpha, margin=margin)(positives, negatives, mask).sum().backward()
    with torch.no_grad():
        pull = -alpha * torch.sigmoid(-alpha * (positives - margin))
        scaled = torch.exp(alpha * (negatives + margin)) * mask
        push = alpha * scaled / (1 + scaled.sum(dim=1, keepdim=True))
    # torch's softplus is linear above 20, which is 2e-9 off
    torch.testing.assert_close(positives.grad, pull, rtol=1e-8, atol=1e-14)
    torch.testing.assert_close(negatives.grad, push, rtol=1e-8, atol=1e-14)


def test_margin_asks_more_of_positives_and_of_negatives():
    positives, negatives, mask = batch()
    strict, plain = ProxySoftplus(margin=0.1), ProxySoftplus(margin=0.0)
    assert (strict(positives, negatives, mask) > plain(positives, negatives, mask)).all()


def test_a_softmax_knows_no_zero_and_proxies_do():
    positives, negatives, mask = (tensor.detach() for tensor in batch())
    mask[-1] = True
    softmax, proxy = InBatchSoftmax(), ProxySoftplus()
    shifted = (positives + 0.3, negatives + 0.3, mask)
    torch.testing.assert_close(softmax(positives, negatives, mask), softmax(*shifted))
    assert not torch.allclose(proxy(positives, negatives, mask), proxy(*shifted))
