"""Trainings with a regularizer, with either loss and similarity."""

import pytest

from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.encoders.similarities import DotProduct
from spacy_pel.errors import PelError

from ..conftest import metrics

pytestmark = pytest.mark.slow

FGSM = {"pel__regularizer": {"@pel_regularizers": "spacy-pel.FGSM.v1", "epsilon": 0.02, "weight": 1.0}}
CE = {
    "pel__loss": {"@pel_losses": "spacy-pel.CrossEntropy.v1"},
    "pel__encoder__similarity": {"@pel_similarities": "spacy-pel.DotProduct.v1"},
}


def test_it_learns(train, tmp_path):
    train(tmp_path / "run", pel__training__max_steps=50, pel__training__eval_frequency=25, **FGSM, **CE)
    log = metrics(tmp_path / "run")
    assert log[-1]["loss"] < 0.8 * log[0]["loss"] and log[-1]["recall@5"] > 0.8  # by chance: 31
    assert log[0]["loss_adversarial"] > 0.4 * log[0]["loss"], "its share of the total"
    assert isinstance(load_encoder(tmp_path / "run" / "model-last").similarity, DotProduct)


def test_stopped_and_resumed(train, check_resuming):
    whole = check_resuming(6, **FGSM)
    with pytest.raises(PelError, match="E312"):
        train(whole, resume=True)  # without the regularizer
