"""Trainings with mixed negatives and similarities of tokens; the objective against a loop in float64."""

import pytest
import torch
from spacy_pel_studies.mixup import AdaptiveMixup, BinaryCrossEntropy, SumOfMax
from training.conftest import check_resuming, data, metrics, train
from training.retriever.test_objective import close_in_bf16, make, make_batch

from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.encoders.similarities import DotProduct
from spacy_pel.errors import PelError
from spacy_pel.training.losses.proxy_softplus import ProxySoftplus
from spacy_pel.training.regularizers import FGSM
from spacy_pel.training.retriever.objective import Objective

pytestmark = pytest.mark.slow

__all__ = ["check_resuming", "data", "train"]

SIMILARITIES = {"pooled": DotProduct(), "tokens": SumOfMax()}


@pytest.fixture(params=SIMILARITIES)
def level(request):
    return request.param


def mixed_objective(level, *, mixing=None, loss=None, **settings):
    made = make(similarity=SIMILARITIES[level], **settings)
    # the scores of random weights are about 30 pooled, and 200 of tokens
    loss = loss or BinaryCrossEntropy(scale=0.05 if level == "pooled" else 0.01)
    return Objective(made.towers, loss, similarity=made.similarity, regularizer=made.regularizer, mixing=mixing)


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
    assert log[-1]["recall@5"] > 0.8  # by chance: 31
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
