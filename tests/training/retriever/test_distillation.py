"""The divergence from a teacher: what it computes, and where its gradient goes."""

import math

import numpy as np
import pytest
import torch

from spacy_pel.training.retriever.distillation import Distillation

MASK = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 1], [0, 0, 0, 0]], dtype=torch.bool)  # the last has no negative


def random_scores(seed):
    return torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, (3, 4)))


def slow(scores, targets, mask, scale):
    """Kullback-Leibler divergences, by the book."""
    found = []
    for i in range(len(scores)):
        seen = [j for j in range(scores.shape[1]) if j == i or mask[i, j]]
        p, q = ([math.exp(scale * float(one[i, j])) for j in seen] for one in (scores, targets))
        p, q = ([value / sum(values) for value in values] for values in (p, q))
        found.append(sum(b * math.log(b / a) for a, b in zip(p, q, strict=True)))
    return found


@pytest.mark.parametrize("scale", [1.0, 20.0])
def test_it_is_the_divergence_over_the_positive_and_its_negatives(scale):
    scores, targets = random_scores(0), random_scores(1)
    found = Distillation(scale=scale)(scores, targets, MASK)
    assert found.dtype == torch.float64
    assert found.tolist() == pytest.approx(slow(scores, targets, MASK, scale))
    assert found[2] == 0.0 and (found[:2] > 0).all()
    changed = targets.clone()
    changed[0, 2] = 5.0  # no negative of the first mention
    assert torch.equal(Distillation(scale=scale)(scores, changed, MASK), found)


def test_a_model_that_agrees_is_left_alone_and_another_is_drawn_to_the_teacher():
    distil, targets = Distillation(), random_scores(1)
    agreeing = (targets + 0.3).requires_grad_()  # a softmax knows no zero
    distil(agreeing, targets, MASK).sum().backward()
    assert torch.allclose(agreeing.grad, torch.zeros_like(targets), atol=1e-12)
    scores = random_scores(0).requires_grad_()
    distil(scores, targets, MASK).sum().backward()
    assert torch.isfinite(scores.grad).all() and not scores.grad[0, 2] and not scores.grad[2].any()
    nearer = scores.detach() - 1e-3 * scores.grad
    assert (distil(nearer, targets, MASK)[:2] < distil(scores, targets, MASK)[:2]).all()


def test_half_precision_is_computed_in_float32():
    found = Distillation()(random_scores(0).bfloat16(), random_scores(1).bfloat16(), MASK)
    assert found.dtype == torch.float32 and torch.isfinite(found).all()
