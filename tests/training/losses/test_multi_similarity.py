"""The multi-similarity loss against its formula, and which pairs it mines."""

import math

import pytest
import torch

from spacy_pel.errors import PelError
from spacy_pel.training.losses.multi_similarity import MultiSimilarity


def by_hand(positive, negatives, alpha, beta, base):
    pull = math.log(1 + math.exp(-alpha * (positive - base))) / alpha
    return pull + math.log(1 + sum(math.exp(beta * (s - base)) for s in negatives)) / beta


def test_the_formula():
    loss = MultiSimilarity(alpha=2.0, beta=5.0, base=0.4, margin=None)
    positives = torch.tensor([0.7, 0.1])
    negatives = torch.tensor([[0.2, 0.6, 0.9], [0.3, -0.5, 0.8]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    expected = [by_hand(0.7, [0.2, 0.6], 2, 5, 0.4), by_hand(0.1, [0.3, -0.5, 0.8], 2, 5, 0.4)]
    assert loss(positives, negatives, mask).tolist() == pytest.approx(expected, abs=1e-6)


def test_only_negatives_within_the_margin_count():
    loss = MultiSimilarity(alpha=1.0, beta=60.0, base=0.5, margin=0.2)
    positives = torch.tensor([0.7, 0.9])
    negatives = torch.tensor([[0.6, 0.49, 0.2], [0.6, 0.5, 0.2]], requires_grad=True)
    found = loss(positives, negatives, torch.ones(2, 3, dtype=torch.bool))
    assert found.tolist() == pytest.approx([by_hand(0.7, [0.6], 1, 60, 0.5), 0.0], abs=1e-6)
    found.sum().backward()
    assert (negatives.grad != 0).tolist() == [[True, False, False], [False, False, False]]


def test_settings_are_checked():
    for name in ("alpha", "beta"):
        with pytest.raises(PelError, match=f"E332.*{name} > 0"):
            MultiSimilarity(**{name: 0.0})
    with pytest.raises(PelError, match="E346.*margin"):
        MultiSimilarity(margin=-0.1)
