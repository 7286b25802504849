"""Trainings with a regularizer, with either loss and similarity, from a config."""

import numpy as np
import pytest
import torch

from spacy_pel.corpora import read_corpus
from spacy_pel.encoders import load_encoder
from spacy_pel.encoders.similarities.dot_product import DotProduct
from spacy_pel.encoders.similarities.euclidean import Euclidean
from spacy_pel.errors import PelError
from spacy_pel.kb import KnowledgeBase

from ..conftest import CONFIG, build_examples, metrics

SECTIONS = """
[pel.regularizer]
@pel_regularizers = "spacy-pel.FGSM.v1"
epsilon = 0.02
weight = 1.0
"""
DOT = '[pel.encoder.similarity]\n@pel_similarities = "spacy-pel.DotProduct.v1"\n\n[pel.loss]'


@pytest.fixture(scope="module")
def configs(tmp_path_factory):
    """ "Pb" on cosines and "CE" on dot products, both with FGSM; "Euclidean" without."""
    path, text = tmp_path_factory.mktemp("configs"), CONFIG.read_text()
    loss = '@pel_losses = "spacy-pel.ProxySoftplus.v1"\nalpha = 32.0\nmargin = 0.0'
    assert loss in text
    texts = {
        "Pb": text + SECTIONS,
        "CE": text.replace(loss, '@pel_losses = "spacy-pel.CrossEntropy.v1"').replace("[pel.loss]", DOT) + SECTIONS,
        "Euclidean": text.replace("[pel.loss]", DOT.replace("DotProduct", "Euclidean")),
    }
    for name, content in texts.items():
        (path / f"{name}.cfg").write_text(content)
    return {name: path / f"{name}.cfg" for name in texts}


def test_it_learns(train, configs, tmp_path):
    changes = {"pel__training__max_steps": 50, "pel__training__eval_frequency": 25}
    train(tmp_path / "run", config=configs["CE"], **changes)
    log = metrics(tmp_path / "run")
    assert log[-1]["loss"] < 0.8 * log[0]["loss"] and log[-1]["recall@5"] > 80  # by chance: 31
    assert log[0]["loss_adversarial"] > 0.4 * log[0]["loss"], "its share of the total"
    assert isinstance(load_encoder(tmp_path / "run" / "model-last").similarity, DotProduct)


def test_stopped_and_resumed(train, check_resuming, configs):
    whole = check_resuming(6, config=configs["Pb"])
    with pytest.raises(PelError, match="E312"):
        train(whole, resume=True)  # without the regularizer


def test_distances_are_trained_and_retrieved(train, data, configs, tmp_path):
    """Recall on dev is that of the nearest entities by the norm of the difference, text by text."""
    train(tmp_path / "run", config=configs["Euclidean"], pel__training__max_steps=4)
    (record,) = metrics(tmp_path / "run")
    encoder = load_encoder(tmp_path / "run" / "model-last")
    assert isinstance(encoder.similarity, Euclidean)
    kb = KnowledgeBase.from_disk(data["paths.kb"])
    store = build_examples(kb, read_corpus(data["paths.dev"]), encoder)

    def vectors(side, texts):
        tower = encoder.towers[side if side in encoder.towers else "mention"].eval()
        with torch.inference_mode():
            ids = [torch.from_numpy(np.array(texts[row], dtype=np.int64))[None] for row in range(len(texts))]
            return torch.cat([tower(text, torch.ones_like(text)) for text in ids]).double().numpy()

    mentions, cards, names = (
        vectors(*one) for one in (("mention", store.mentions), ("entity", store.cards), ("entity", store.names))
    )
    ranks = []
    for mention, gold in zip(mentions, store.mention_gold, strict=True):
        distances = np.linalg.norm(cards - mention, axis=1)
        np.minimum.at(distances, store.name_entity, np.linalg.norm(names - mention, axis=1))
        ranks.append(1 + int((distances < distances[gold].min()).sum()))
    for k in (1, 5):
        assert record[f"recall@{k}"] == pytest.approx(100 * np.mean(np.array(ranks) <= k)), k
    assert min(ranks) == 1 < max(ranks)
