"""Trainings with mixed negatives and similarities of tokens; the objective against a loop in float64."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.encoders.similarities import DotProduct, SumOfMax
from spacy_pel.errors import PelError
from spacy_pel.training.balanced_losses import BinaryCrossEntropy, ProxySoftplus
from spacy_pel.training.mixing import AdaptiveMixup
from spacy_pel.training.regularizers import FGSM
from spacy_pel.training.retriever.objective import Objective

from ..conftest import metrics
from .test_objective import ENTITIES, MASKS, MENTIONS, close_in_bf16, gradients, make, make_batch

pytestmark = pytest.mark.slow

SIMILARITIES = {"pooled": DotProduct(), "tokens": SumOfMax()}


@pytest.fixture(params=SIMILARITIES)
def level(request):
    return request.param


def mixed_objective(level, *, mixing=None, loss=None, **settings):
    made = make(similarity=SIMILARITIES[level], **settings)
    # the scores of random weights are about 30 pooled, and 200 of tokens
    loss = loss or BinaryCrossEntropy(scale=0.05 if level == "pooled" else 0.01)
    return Objective(made.towers, loss, similarity=made.similarity, regularizer=made.regularizer, mixing=mixing)


# -- a loop over the mentions, the texts one by one, without padding -------------------------------


class ByHand:
    def __init__(self, objective, level, views):
        self.towers, self.loss, self.mixing = objective.towers, objective.loss, objective.mixing
        self.level, self.views = level, views

    def tokens(self, side, text):
        tower = self.towers[side if side in self.towers else "mention"]
        ids = torch.tensor([text])
        vectors = tower.states(ids, torch.ones_like(ids))[0]
        return vectors.mean(dim=0, keepdim=True) if self.level == "pooled" else vectors

    def mention(self, i):
        return self.tokens("mention", MENTIONS[i])

    def entity(self, j):
        return self.tokens("mention" if self.views and j == 1 else "entity", ENTITIES[j])

    @staticmethod
    def score(mention, entity):
        return sum(max((t * u).sum() for u in entity) for t in mention)

    def mean_loss(self, mask):
        losses = []
        for i in range(3):
            mention, own = self.mention(i), self.score(self.mention(i), self.entity(i))
            scored = [(self.score(mention, self.entity(j)), j) for j in np.flatnonzero(mask[i])]
            scored = sorted(scored, key=lambda pair: -float(pair[0].detach()))[: self.mixing.k]
            weight = math.exp(float(own.detach()))
            weight /= weight + sum(math.exp(float(s.detach())) for s, _ in scored)
            value = -torch.log(torch.sigmoid(self.loss.scale * own))
            for _, j in scored:
                strong = self.strong(weight, self.entity(i), self.entity(j))
                score = self.score(mention, strong)
                value = value - torch.log(1 - torch.sigmoid(self.loss.scale * score))
            losses.append(value)
        return torch.stack(losses).mean()

    def strong(self, weight, own, other):
        length = max(len(own), len(other))
        rows = []
        for u in range(length):
            part = self.mixing.alpha * weight * own[u] if u < len(own) else 0.0
            rows.append(part + (other[u] if u < len(other) else 0.0))
        return torch.stack(rows)


@pytest.mark.parametrize("views", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_the_mixed_loss_and_its_gradients_by_hand(level, tied, views):
    objective = mixed_objective(level, tied=tied, mixing=AdaptiveMixup(alpha=0.6, k=2))
    for mask in MASKS if not (views or tied) else ["in batch"]:
        value, metrics = objective(make_batch(mask, views))
        expected = ByHand(objective, level, views).mean_loss(MASKS[mask])
        torch.testing.assert_close(value, expected, rtol=1e-8, atol=1e-8, msg=mask)
        assert 0 <= metrics["mix_weight"] <= 1
        ours, theirs = gradients(objective, value), gradients(objective, expected)
        assert set(ours) == set(theirs)
        for name, gradient in ours.items():
            torch.testing.assert_close(gradient, theirs[name], rtol=1e-6, atol=1e-8, msg=f"{mask} {name}")


def test_unmixed_the_hardest_count():
    level = "pooled"  # mixed tokens are those of the longer text
    plain = mixed_objective(level)
    chosen = mixed_objective(level, mixing=AdaptiveMixup(alpha=0.0, k=100))
    expected, expected_figures = plain(make_batch("in batch"))
    value, metrics = chosen(make_batch("in batch"))
    torch.testing.assert_close(value, expected)
    assert metrics.items() >= expected_figures.items()
    fewer, _ = mixed_objective(level, mixing=AdaptiveMixup(alpha=0.0, k=1))(make_batch("in batch"))
    assert fewer.item() < value.item()


def test_figures_count_mentions_with_negatives_only(level):
    objective = mixed_objective(level, mixing=AdaptiveMixup())
    _, metrics = objective(make_batch("one without"))
    hand = ByHand(objective, level, False)
    scores = [[float(hand.score(hand.mention(i), hand.entity(j)).detach()) for j in (i, i + 4)] for i in (0, 1)]
    weights = [1 / (1 + math.exp(other - own)) for own, other in scores]
    assert metrics["mix_weight"] == pytest.approx(sum(weights) / 2, rel=1e-6, abs=1e-12)
    batch = replace(make_batch("one without"), negative_mask=np.zeros((3, 6), dtype=bool))
    value, none = objective(batch)
    logits = [hand.loss.scale * float(hand.score(hand.mention(i), hand.entity(i)).detach()) for i in range(3)]
    assert none["mix_weight"] == 0.0
    assert value.item() == pytest.approx(sum(math.log1p(math.exp(-logit)) for logit in logits) / 3)


@pytest.mark.parametrize("mask", ["per mention", "in batch"])
def test_bf16(level, mask):
    close_in_bf16(mixed_objective(level, dtype=torch.float32, mixing=AdaptiveMixup(k=2)), mask)


def test_fgsm_perturbs_tokens():
    objective = mixed_objective("tokens", loss=ProxySoftplus(alpha=0.05), regularizer=FGSM())
    value, metrics = objective(make_batch("in batch"))
    assert metrics["loss_adversarial"] > float(value.detach()) - metrics["loss_adversarial"]


# -- trainings -----------------------------------------------------------------------------------


@pytest.fixture
def amh(level):
    """AMH with DUAL, Pooling Mean and SOM."""
    k, scale = (1, 0.1) if level == "pooled" else (3, 0.01)
    return {
        "pel__mixing": {"@pel_mixing": "spacy-pel.AdaptiveMixup.v1", "alpha": 0.3, "k": k},
        "pel__encoder__similarity": {"@pel_similarities": f"spacy-pel.{type(SIMILARITIES[level]).__name__}.v1"},
        "pel__loss": {"@pel_losses": "spacy-pel.BinaryCrossEntropy.v1", "scale": scale},
    }


def test_the_weight_rises_as_training_separates_the_positives(train, amh, tmp_path, level):
    train(tmp_path / "run", pel__training__max_steps=60, pel__training__eval_frequency=20, **amh)
    log = metrics(tmp_path / "run")
    assert log[-1]["mix_weight"] > log[0]["mix_weight"] + 0.05
    assert log[-1]["recall@5"] > 80  # by chance: 31
    loaded = load_encoder(tmp_path / "run" / "model-last")
    assert isinstance(loaded.similarity, type(SIMILARITIES[level]))


def test_stopped_and_resumed(train, check_resuming, amh):
    whole = check_resuming(6, pel__training__max_steps=8, **amh)
    with pytest.raises(PelError, match="E312"):
        train(whole, resume=True, pel__training__max_steps=8, **amh, pel__mixing__alpha=0.5)


def test_mixing_and_fgsm_are_refused_before_anything_is_done(train, amh, tmp_path):
    with pytest.raises(PelError, match="E310.*got both"):
        train(tmp_path / "run", **amh, pel__regularizer={"@pel_regularizers": "spacy-pel.FGSM.v1"})
    assert not (tmp_path / "run").exists()
