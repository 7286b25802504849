"""A contract for every registered ranker."""

import pickle

import numpy as np
import pytest

from spacy_pel.encoders.backend import TorchBackend
from spacy_pel.encoders.bi_encoder import BiEncoder
from spacy_pel.errors import PelError
from spacy_pel.linking import Reranker, reranker
from spacy_pel.linking.reranker import load_ranker
from spacy_pel.registry import registry
from spacy_pel.training.ranker.settings import RankerSettings, recipe_of
from spacy_pel.types import RankingTask

from .conftest import ENTITIES, MENTIONS, TASK, make_ranker

NAMES = sorted(registry.parts("pel_rankers").values())


@pytest.fixture
def make():
    return make_ranker


@pytest.mark.parametrize("name", NAMES)
def test_contract_no_weights_at_first(name):
    ranker = registry.pel_rankers.get(name)(top_k=5, mix=0.5)
    assert (ranker.registered_name, ranker.top_k, ranker.mix) == (name, 5, 0.5)
    for use in (lambda: ranker.score(TASK), lambda: ranker.fingerprint, ranker.initialize):
        with pytest.raises(PelError):
            use()
    for settings in ({"top_k": 0}, {"mix": -1.0}):
        with pytest.raises(PelError, match="PEL-E301"):
            registry.pel_rankers.get(name)(**settings)


def test_contract_scores_follow_mention_and_entity_only(make):
    ranker = make(backend=TorchBackend(precision="float32"))
    scores = ranker.score(TASK)
    assert scores.shape == (2, 3) and scores.dtype == np.float32
    assert np.isnan(scores).tolist() == [[0, 0, 0], [0, 0, 1]] and len(np.unique(scores)) == 6
    turned = RankingTask(MENTIONS[::-1], ENTITIES[::-1], np.array([[0, 2, -1], [2, 1, 0]]))
    np.testing.assert_allclose(ranker.score(turned)[::-1], scores, atol=1e-4)
    alone = RankingTask([MENTIONS[0]], [ENTITIES[1]], np.array([[0]]))
    np.testing.assert_allclose(ranker.score(alone), scores[:1, 1:2], atol=1e-4)
    again = RankingTask(MENTIONS[:1] * 2, ENTITIES[:1], np.zeros((2, 1), np.int64))
    assert len(np.unique(ranker.score(again))) == 1


def test_contract_nothing_to_score(make):
    nothing = make().score(RankingTask(MENTIONS, [], np.full((2, 3), -1)))
    assert nothing.shape == (2, 3) and np.isnan(nothing).all()
    assert make().score(RankingTask([], [], np.zeros((0, 3), np.int64))).shape == (0, 3)


def test_contract_disk_and_pickle(make, tmp_path):
    ranker = make()
    ranker.to_disk(tmp_path / "model")
    expected = ranker.score(TASK)
    other = make(seed=5)
    assert not np.allclose(other.score(TASK), expected, atol=1e-3, equal_nan=True)
    other.from_disk(tmp_path / "model")
    np.testing.assert_allclose(other.score(TASK), expected, atol=1e-5)
    loaded = load_ranker(tmp_path / "model", top_k=9)
    assert loaded.fingerprint == ranker.fingerprint == other.fingerprint and loaded.top_k == 9
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).score(TASK), expected)
    with pytest.raises(PelError):
        make().from_disk(tmp_path)


def test_contract_changed(make):
    import torch

    ranker = make()
    before, fingerprint = ranker.score(TASK), ranker.fingerprint
    weights = ranker.encoder.towers if hasattr(ranker, "encoder") else ranker.tower
    with torch.no_grad():
        for parameter in weights.parameters():
            parameter += 0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    ranker.changed()
    assert ranker.fingerprint != fingerprint and not np.allclose(ranker.score(TASK), before, atol=1e-3, equal_nan=True)


def test_what_is_no_ranker_cannot_be_trained():
    class Stranger:
        pass

    with pytest.raises(PelError, match=r"PEL-E347.*CrossEncoder\.v1, .*DualEncoder\.v1"):
        recipe_of(Stranger(), RankerSettings(model=Stranger()))
    with pytest.raises(PelError, match="PEL-E503"):
        Reranker(Stranger())


def test_an_encoder_is_no_ranker_without_the_studies(tmp_path, monkeypatch):
    encoder = BiEncoder(name="random:layers=1,width=16", tied=True)
    encoder.initialize()
    encoder.to_disk(tmp_path / "model")
    monkeypatch.setattr(reranker, "_OF_ENCODER", "spacy-pel.NotInstalled.v1")
    with pytest.raises(PelError, match="PEL-E001.*NotInstalled.*pel_rankers"):
        load_ranker(tmp_path / "model")
