"""Losses: a contract, which those of the studies keep, too; the papers' equations in closed form, in float64."""

import math

import numpy as np
import pytest
import torch

from spacy_pel.registry import registry
from spacy_pel.training.losses.cross_entropy import CrossEntropy
from spacy_pel.training.losses.proxy_softplus import ProxySoftplus


def offset_of(loss):
    return float(loss.offset)


def slow_proxy_softplus(loss, positive, negatives):
    """Eq. 3 as it is written, about the offset."""
    offset = offset_of(loss)
    pull = math.log1p(math.exp(-loss.alpha * (positive - offset - loss.margin)))
    return pull + math.log1p(sum(math.exp(loss.alpha * (s - offset + loss.margin)) for s in negatives))


def slow_cross_entropy(loss, positive, negatives):
    """Eq. 1 as it is written."""
    own = math.exp(loss.scale * positive)
    return -math.log(own / (own + sum(math.exp(loss.scale * s) for s in negatives)))


SLOW = {"spacy-pel.ProxySoftplus.v1": slow_proxy_softplus, "spacy-pel.CrossEntropy.v1": slow_cross_entropy}
CASES = [*((name, {}) for name in sorted(SLOW)), ("spacy-pel.ProxySoftplus.v1", {"offset": None})]


@pytest.fixture(params=CASES, ids=str)
def case(request):
    return request.param


@pytest.fixture
def name(case):
    return case[0]


@pytest.fixture
def loss(case):
    name, settings = case
    return registry.pel_losses.get(name)(**settings)


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
    if name == "spacy-pel.Triplet.v1":  # similarities of the paper's distances
        positives, negatives = -positives.abs(), -negatives.abs()
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
    if isinstance(loss, ProxySoftplus):
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
    pushed = mask
    assert (positives.grad[pushed.any(dim=1)] < 0).all(), "a positive is pulled"
    if getattr(loss, "hardest_only", False):
        hardest = negatives.masked_fill(~mask, -torch.inf).argmax(dim=1, keepdim=True)
        pushed = torch.zeros_like(mask).scatter(1, hardest, True) & mask
        assert (negatives.grad[mask & ~pushed] == 0).all(), "the others do not count"
    assert (negatives.grad[pushed] > 0).all(), "negatives are pushed"
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


FIELDS = ("alpha", "margin", "offset", "scale")
SETTINGS = [
    *(ProxySoftplus(alpha=alpha, margin=margin) for alpha in (4.0, 32.0) for margin in (0.0, 0.01, 0.05, 0.1)),
    ProxySoftplus(offset=0.3, margin=0.05),
    *(CrossEntropy(scale=scale) for scale in (1.0, 20.0)),
]


def settings_of(loss):
    return " ".join([type(loss).__name__, *(f"{key}={loss.__dict__[key]}" for key in FIELDS if hasattr(loss, key))])


def eq_2(loss, positive, negatives):
    """Slopes of the cross-entropy at the positive and at the negatives."""
    total = math.exp(loss.scale * positive) + sum(math.exp(loss.scale * s) for s in negatives)
    own = -1 + math.exp(loss.scale * positive) / total
    return loss.scale * own, [loss.scale * math.exp(loss.scale * s) / total for s in negatives]


def eq_4(loss, positive, negatives):
    """Slopes of the proxy-based loss at the positive and at the negatives."""
    alpha, up = loss.alpha, -loss.alpha * (positive - loss.offset - loss.margin)
    downs = [math.exp(alpha * (s - loss.offset + loss.margin)) for s in negatives]
    return -alpha * math.exp(up) / (1 + math.exp(up)), [alpha * down / (1 + sum(downs)) for down in downs]


@pytest.mark.parametrize("loss", SETTINGS, ids=settings_of)
def test_values_and_gradients_are_the_papers(loss):
    slow, slopes = (slow_proxy_softplus, eq_4) if isinstance(loss, ProxySoftplus) else (slow_cross_entropy, eq_2)
    positives, negatives, mask = batch(seed=1)
    values = loss(positives, negatives, mask)
    values.sum().backward()
    for i, positive in enumerate(positives.tolist()):
        used = negatives[i][mask[i]].tolist()
        own, others = slopes(loss, positive, used)
        # torch's softplus is linear above 20, which is 2e-9 off
        assert values[i].item() == pytest.approx(slow(loss, positive, used), rel=1e-8, abs=1e-12)
        assert positives.grad[i].item() == pytest.approx(own, rel=1e-8, abs=1e-12)
        assert negatives.grad[i][mask[i]].tolist() == pytest.approx(others, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("loss", SETTINGS, ids=settings_of)
def test_large_dot_products(loss):
    """Any loss with any similarity: unscaled vectors have products in the thousands."""
    for sign in (1, -1):
        positives = torch.tensor([3000.0 * sign, 0.0], requires_grad=True)
        negatives = torch.tensor([[-3000.0 * sign, 2500.0], [-3000.0, 0.0]], requires_grad=True)
        values = loss(positives, negatives, torch.ones((2, 2), dtype=torch.bool))
        values.sum().backward()
        assert all(torch.isfinite(x).all() for x in (values, positives.grad, negatives.grad))
        assert (values >= 0).all() and (sign > 0 or values[0] > 1000)


def slow_excess(loss, offset, positives, negatives, mask):
    """How much harder an offset lets the batch pull than push, by the terms' slopes as the paper has them."""
    total = 0.0
    for positive, row, used in zip(positives.tolist(), negatives, mask, strict=True):
        others = row[used].tolist()
        total += 1 / (1 + math.exp(loss.alpha * (positive - offset - loss.margin)))
        downs = sum(math.exp(loss.alpha * (s - offset + loss.margin)) for s in others)
        total -= downs / (1 + downs)
    return total / len(positives)


@pytest.mark.parametrize("settings", [{"alpha": a, "margin": b} for a in (4.0, 32.0) for b in (0.0, 0.1)], ids=str)
@pytest.mark.parametrize("m", [1, 64])
def test_the_offset_of_the_first_batch_is_the_root(settings, m):
    """Cosines of unrelated texts far above 0, as sentence encoders give them before training."""
    rng = np.random.default_rng(m)
    positives = torch.tensor(rng.normal(0.5, 0.1, 50), requires_grad=True)
    negatives = torch.tensor(rng.normal(0.3, 0.1, (50, m)), requires_grad=True)
    mask = torch.tensor(rng.random((50, m)) < 0.8)
    loss = ProxySoftplus(offset=None, **settings)
    loss(positives, negatives, mask).sum().backward()
    found = offset_of(loss)
    low, high = (slow_excess(loss, found + step, positives, negatives, mask) for step in (-1e-6, 1e-6))
    assert low < 0 < high, "pull and push are equal within the step of float32"
    pull, push = -float(positives.grad.sum()), float(negatives.grad.sum())
    assert pull == pytest.approx(push, rel=1e-4), "so are their gradients"
    assert loss.metrics == {"offset": found}
    given = ProxySoftplus(offset=found, **settings)
    assert torch.equal(given(positives, negatives, mask), loss(positives, negatives, mask))
    loss(positives + 1, negatives + 1, mask)
    assert offset_of(loss) == found, "later batches do not move it"


def test_an_offset_is_not_found_without_negatives():
    positives, negatives, mask = (tensor.detach() for tensor in batch())
    loss = ProxySoftplus(offset=None)
    plain = ProxySoftplus()
    assert torch.equal(loss(positives, negatives, mask & False), plain(positives, negatives, mask & False))
    assert not loss.started and loss.metrics == {"offset": 0.0}
    loss(positives, negatives, mask)
    assert loss.started and loss.metrics["offset"] != 0
    other = ProxySoftplus(offset=None)
    other.load_state_dict(loss.state_dict())
    assert other.metrics == loss.metrics and other.started


def test_an_offset_that_is_given_is_no_state():
    for offset in (0, 0.0, 0.4):
        loss = ProxySoftplus(offset=offset)
        assert loss.offset == offset and not loss.state_dict() and loss.metrics == {}
