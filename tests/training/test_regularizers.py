"""Regularizers: a contract for every registered one, and FGSM against its equations in float64."""

import numpy as np
import pytest
import torch

from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.training.regularizers import FGSM, Regularizer

NAMES = sorted(registry.parts("pel_regularizers").values())


@pytest.fixture(params=NAMES)
def regularizer(request):
    return registry.pel_regularizers.get(request.param)()


def draw(*shape, seed=0, dtype=torch.float64):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape), dtype=dtype)


def encode(embeddings, mask):
    """A pooled reading of each sequence alone, curved, so that its gradient is not a constant."""
    states = torch.tanh(embeddings @ draw(5, 3, seed=9).to(embeddings.dtype))
    return (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)


def made(n, length=4, seed=0, dtype=torch.float64):
    embeddings = draw(n, length, 5, seed=seed, dtype=dtype).requires_grad_()
    mask = torch.ones((n, length), dtype=torch.int64)
    mask[::2, -1] = 0
    return embeddings, mask


def test_contract(regularizer):
    assert isinstance(regularizer, Regularizer) and regularizer.weight > 0
    sides = [made(2), made(3, length=6, seed=1)]
    vectors = torch.cat([encode(*side) for side in sides])
    scores = draw(4, 3, seed=2) @ vectors.T
    embeddings, masks = zip(*sides, strict=True)
    deltas = regularizer.deltas(embeddings, masks, scores, torch.ones_like(scores))
    assert [delta.shape for delta in deltas] == [side.shape for side in embeddings]
    for delta, mask in zip(deltas, masks, strict=True):
        assert not delta.requires_grad and torch.isfinite(delta).all()
        assert (delta[mask == 0] == 0).all(), "padding stays where it is"
        assert delta[mask == 1].any()
    assert all(side.grad is None for side in embeddings), "what accumulates gradients is left alone"
    scores.sum().backward()  # the clean graph is still there


@pytest.mark.parametrize(("sign", "equation"), [(1.0, 6), (-1.0, 7)])
def test_delta_is_the_papers(sign, equation):
    """The sign of each slope of s(m, e) by finite differences, in float64."""
    mentions = draw(3, 3, seed=3)
    embeddings, mask = made(3)
    scores = (mentions * encode(embeddings, mask)).sum(dim=1)
    (delta,) = FGSM(epsilon=0.01).deltas([embeddings], [mask], scores, torch.full_like(scores, sign))
    step, clean = 1e-6, embeddings.detach()
    for place in np.ndindex(*clean.shape):
        i, t, _ = place
        moved = clean.clone()
        moved[place] += step
        rise = mentions[i] @ (encode(moved, mask) - encode(clean, mask))[i] / step
        expected = sign * 0.01 * np.sign(float(rise)) if mask[i, t] else 0.0
        assert float(delta[place]) == pytest.approx(expected), (equation, place)


@pytest.mark.parametrize("changes", [{"epsilon": -0.1}, {"weight": -1.0}, {"epsilon": float("nan")}])
def test_impossible_settings(changes):
    with pytest.raises(PelError, match=next(iter(changes))):
        FGSM(**changes)
