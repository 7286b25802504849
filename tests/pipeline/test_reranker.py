"""The setting ``reranker``: round trips, processes, calibration, errors."""

import pytest
import spacy
import torch

from .conftest import NAME, TEXTS, copies, found
from .test_serialization import FITTED, dev_set

pytestmark = pytest.mark.slow

CROSS = {"@pel_rankers": "spacy-pel.CrossEncoder.v1", "name": "random:layers=1,width=16", "length": 48}
RANKER = {**CROSS, "top_k": 3, "backend": {"@pel_backends": "spacy-pel.TorchBackend.v1", "precision": "float32"}}


@pytest.fixture
def with_ranker(make_nlp):
    """A pipeline whose ranker says something: untrained, all candidates are equal."""

    def make(**settings):
        nlp = make_nlp(**{"reranker": RANKER, **FITTED, **settings})
        ranker = nlp.get_pipe(NAME).reranker.ranker
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            torch.nn.init.normal_(ranker.tower.head.weight)
        ranker.changed()
        return nlp

    return make


@pytest.fixture
def trained(with_ranker):
    nlp = with_ranker()
    nlp.get_pipe(NAME).calibrate(nlp, dev_set())
    assert nlp.get_pipe(NAME).reranker.weights != (1.0, 1.0)
    return nlp


def test_the_ranker_orders_the_best_candidates(make_nlp, with_ranker):
    plain = make_nlp(**FITTED, read_context="always")
    ranked = with_ranker(reranker={**RANKER, "mix": 0.0})
    ids = [
        [[key for key, _ in ent._.pel_candidates] for doc in nlp.pipe(TEXTS) for ent in doc.ents]
        for nlp in (plain, ranked)
    ]
    assert ids[0] != ids[1]
    for before, after in zip(*ids, strict=True):
        assert sorted(before[:3]) == sorted(after[:3]) and before[3:] == after[3:]
        assert len(set(after)) == len(after)
    for ent in (ent for doc in ranked.pipe(TEXTS) for ent in doc.ents):
        scores = [score for _, score in ent._.pel_candidates]
        assert scores == sorted(scores, reverse=True)


def test_round_trips(trained, make_nlp, tmp_path):
    expected = found(trained)
    assert [found(copy) for copy in copies(trained, tmp_path / "pipeline")] == [expected] * 3
    names = sorted(path.name for path in (tmp_path / "pipeline" / NAME).iterdir())
    assert names == ["cfg.json", "encoder", "index", "kb", "manifest.json", "reranker"]
    other = make_nlp(**FITTED, reranker={**RANKER, "name": "random:layers=2,width=8"})
    assert found(other.from_disk(tmp_path / "pipeline")) == expected


def test_the_config_names_the_loader(with_ranker, kb_path, tmp_path):
    ranker = with_ranker().get_pipe(NAME).reranker.ranker
    ranker.to_disk(tmp_path / "ranker")
    nlp = spacy.blank("en")
    linker = nlp.add_pipe(NAME, config={"encoder": {"@pel_encoders": "spacy-pel.HashEmbed.v1"}, "reranker": RANKER})
    nlp.config["initialize"]["components"][NAME] = {
        "kb_loader": {"@misc": "spacy-pel.KBFromDisk.v1", "path": str(kb_path)},
        "reranker_loader": {"@misc": "spacy-pel.RankerFromDisk.v1", "path": str(tmp_path / "ranker")},
    }
    nlp.initialize()
    assert linker.reranker.ranker.fingerprint == ranker.fingerprint


def test_a_reranker_taken_away_takes_nil_model_and_threshold_along(trained, make_nlp, tmp_path, caplog):
    trained.to_disk(tmp_path / "pipeline")
    nlp = spacy.load(tmp_path / "pipeline", config={f"components.{NAME}.reranker": None})
    assert "PEL-W503" in caplog.text
    linker = nlp.get_pipe(NAME).linker
    assert linker.reranker is None and linker.nil_threshold is None and not linker.decider.nil_model.state()
    assert linker.decider.combiner.state() == trained.get_pipe(NAME).linker.decider.combiner.state()
