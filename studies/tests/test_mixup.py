"""Adaptive mixup: Eq. 8 to 10 of Cai et al. (2023) one by one."""

import math

import numpy as np
import pytest
import torch
from spacy_pel_studies.mixup import AdaptiveMixup, SumOfMax

from spacy_pel.encoders.similarities import DotProduct, TokenVectors
from spacy_pel.errors import PelError

N, M, WIDTH, LENGTH = 5, 9, 6, 4
SIMILARITIES = {"pooled": DotProduct(), "tokens": SumOfMax()}


@pytest.fixture(params=SIMILARITIES)
def level(request):
    return request.param


def batch(level, dtype=torch.float64):
    """Mentions, entities (the first N are the positives), their scores, and a mask: mention 0 has all
    the others as negatives, 3 has one, and 4 none."""
    rng = np.random.default_rng(0)

    def texts(n, length):
        shape = (n, WIDTH) if level == "pooled" else (n, length, WIDTH)
        values = torch.tensor(rng.normal(size=shape), dtype=dtype, requires_grad=True)
        if level == "pooled":
            return values
        lengths = torch.from_numpy(rng.integers(1, length + 1, n))
        return TokenVectors(values, torch.arange(length) < lengths[:, None])

    mentions, entities = texts(N, LENGTH - 1), texts(M, LENGTH)
    mask = torch.from_numpy(rng.random((N, M)) < 0.6)
    mask[0], mask[3], mask[4] = True, False, False
    mask[3, 7] = True
    mask.diagonal().fill_(False)
    return mentions, entities, SIMILARITIES[level](mentions, entities), mask


def leaf(encoded):
    return encoded.vectors if isinstance(encoded, TokenVectors) else encoded


# -- word by word ------------------------------------------------------------------------------


def slow_amh(level, entities, scores, mask, alpha, k):
    """For each mention W, and the K strong negatives as lists of real tokens (one token
    where they are pooled)."""

    def tokens(j):
        if level == "pooled":
            return [entities[j].tolist()]
        return entities.vectors[j][entities.mask[j]].tolist()

    weights, strong = [], []
    for i in range(N):
        negatives = sorted((j for j in range(M) if mask[i, j]), key=lambda j: -float(scores[i, j].detach()))[:k]
        top = math.exp(float(scores[i, i].detach()))
        weights.append(top / (top + sum(math.exp(float(scores[i, j].detach())) for j in negatives)))
        strong.append([])
        for j in negatives:
            own, other = tokens(i), tokens(j)
            length = max(len(own), len(other))
            own, other = (text + [[0.0] * WIDTH] * (length - len(text)) for text in (own, other))
            strong[-1].append(
                [
                    [alpha * weights[i] * p + n for p, n in zip(u, v, strict=True)]
                    for u, v in zip(own, other, strict=True)
                ]
            )
    return weights, strong


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_adaptive_mixup_is_the_papers(level, alpha, k):
    _, entities, scores, mask = batch(level)
    weights, strong = slow_amh(level, entities, scores, mask, alpha, k)
    found = AdaptiveMixup(alpha=alpha, k=k).strong_negatives(entities, scores, mask)
    np.testing.assert_allclose(found.weights.numpy(), weights, rtol=1e-12)
    assert found.mask.shape == (N, min(k, M)) and found.mask.sum(dim=1).tolist() == [len(s) for s in strong]
    for i, own in enumerate(strong):
        for j, expected in enumerate(own):
            if level == "pooled":
                got = found.entities[i, j][None]
            else:
                got = found.entities.vectors[i, j][found.entities.mask[i, j]]
            np.testing.assert_allclose(got.detach().numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_large_scores_stay_finite(level, dtype):
    _, entities, scores, mask = batch(level, dtype)
    for factor in (3000.0, -3000.0):
        found = AdaptiveMixup(k=3).strong_negatives(entities, factor * scores.float(), mask)
        assert torch.isfinite(leaf(found.entities)).all() and torch.isfinite(found.weights).all()


def test_without_any_negatives(level):
    _, entities, scores, mask = batch(level)
    found = AdaptiveMixup(k=2).strong_negatives(entities, scores, torch.zeros_like(mask))
    assert not found.mask.any()


@pytest.mark.parametrize(("settings", "said"), [({"k": 0}, "k >= 1"), ({"alpha": -0.1}, "alpha >= 0")])
def test_bad_settings(settings, said):
    with pytest.raises(PelError, match=f"E301.*{said}"):
        AdaptiveMixup(**settings)


def test_the_weight_has_no_gradient(level):
    """d(strong negative) = alpha W d(positive) + d(negative), as if W were a number."""
    mentions, entities, scores, mask = batch(level)
    amh = AdaptiveMixup(alpha=0.5, k=2)
    found = amh.strong_negatives(entities, scores, mask)
    assert not found.weights.requires_grad
    only = found.entities.vectors if level == "tokens" else found.entities
    only[3, 0].sum().backward()  # mention 3 has one negative: entity 7
    grad = leaf(entities).grad
    assert leaf(mentions).grad is None, "only W depends on the mentions"
    real = entities.mask if level == "tokens" else None
    for place, share in ((3, 0.5 * float(found.weights[3])), (7, 1.0)):
        expected = torch.full_like(grad[place], share)
        if real is not None:
            expected[~real[place]] = 0.0
        torch.testing.assert_close(grad[place], expected)
    others = [j for j in range(M) if j not in (3, 7)]
    assert (grad[others] == 0).all()
