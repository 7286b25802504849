"""Every training config parses, its parts resolve, and it has no unknown keys."""

from pathlib import Path

import pytest
from thinc.api import Config

from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.training.retriever.settings import read_settings

FOLDER = Path(__file__).parents[1] / "configs"
TRAINING = sorted(path for path in FOLDER.glob("*.cfg") if "pel" in Config().from_disk(path))


def test_the_configs_are_there():
    assert {"pel_minilm.cfg", "pel_sapbert.cfg", "tiny.cfg"} <= {path.name for path in TRAINING}


@pytest.mark.parametrize("path", TRAINING, ids=lambda path: path.name)
def test_config(path):
    settings = read_settings(path)
    assert isinstance(settings.pel.encoder, BiEncoder) and settings.pel.encoder.towers is None
    assert settings.pel.encoder.name
    assert all(getattr(settings.paths, name) for name in ("kb", "train", "dev"))
    dev = settings.pel.training.dev
    assert dev.metric in [f"recall@{k}" for k in dev.recall_at] + ["mrr"]
    views = settings.pel.positives
    assert views.card + views.name + views.mention == pytest.approx(1)
    assert path.read_text(encoding="utf8").startswith("# "), "says what it is for"


def test_the_papers_settings_of_zeshel():
    pel = read_settings(FOLDER / "zeshel.cfg").pel
    assert (pel.negatives.n_negatives, pel.negatives.shared, pel.negatives.in_batch) == (32, False, False)


def test_the_papers_settings():
    pel = read_settings(FOLDER / "pel_sapbert.cfg").pel
    training, optimizer = pel.training, pel.training.optimizer
    assert (pel.encoder.tied, pel.encoder.pooling) == (False, "mean")
    assert pel.encoder.mention_template.max_length == pel.encoder.entity_template.max_length == 128
    assert (optimizer.learn_rate, optimizer.warmup) == (1e-5, 0.25)
    assert (optimizer.epsilon, optimizer.clip) == (1e-6, 1.0)
    assert (training.batch_size, training.max_epochs, training.accumulate_gradient) == (32, 7, 1)
    assert (pel.loss.alpha, pel.loss.margin) == (32.0, 0.0)
    assert (pel.negatives.n_negatives, pel.negatives.shared, pel.negatives.in_batch) == (64, False, False)
    assert (pel.positives.card, pel.positives.alias_share) == (1.0, 0.0)
