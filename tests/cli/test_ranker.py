"""ranker train, ranker add, and evaluation with what they made."""

import json
import shutil
from pathlib import Path

import pytest

from spacy_pel.encoders.bi_encoder import BiEncoder

from .conftest import done, refused, run

pytestmark = pytest.mark.slow

LINKER = "proxy_entity_linker"
CONFIG = Path(__file__).parents[2] / "configs" / "ranker_tiny.cfg"


@pytest.fixture(scope="module")
def ranked(folder, tmp_path_factory):
    """A ranker of two steps, in a calibrated pipeline."""
    path = tmp_path_factory.mktemp("ranked")
    trained = done(
        *("ranker", "train", CONFIG, "--output", path / "ranker", "--json", "--paths.pipeline", folder / "pipeline"),
        *("--paths.train", folder / "train.jsonl", "--paths.dev", folder / "dev.jsonl"),
        *("--ranker.training.max_steps", 2, "--ranker.training.eval_frequency", 1),
    )
    assert trained.json["best"]["retriever_recall"] == 1.0 and "gold added to 0" in trained.err
    added = done(
        *("ranker", "add", folder / "pipeline", path / "ranker" / "model-best", path / "pipeline"),
        *("--top-k", 4, "--backend", "torchbackend", "--json"),
    )
    assert added.json["top_k"] == 4 and added.json["backend"] == {"@pel_backends": "spacy-pel.TorchBackend.v1"}
    done("calibrate", path / "pipeline", folder / "dev.jsonl", "--json")
    return path


def test_a_copy_with_another_ranker_is_not_calibrated(ranked, tmp_path):
    before = json.loads((ranked / "pipeline" / LINKER / "cfg.json").read_text())
    ranker = ranked / "ranker" / "model-best"
    assert run("ranker", "add", ranked / "pipeline", ranker, tmp_path / "out").code == 0
    after = json.loads((tmp_path / "out" / LINKER / "cfg.json").read_text())
    assert "confidence" in before and "confidence" not in after
    assert after["calibrated_threshold"] is None and after["nil_model"]["state"] == {}
    assert after["combiner"] == before["combiner"]


def test_evaluate(folder, ranked, tmp_path):
    done("evaluate", ranked / "pipeline", folder / "dev.jsonl", "--output", tmp_path / "out")
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert len(metrics["ranker_fingerprint"]) == 32


def test_a_calibration_does_not_go_to_a_pipeline_without_the_ranker(folder, ranked, tmp_path):
    shutil.copytree(folder / "pipeline", tmp_path / "plain")
    args = ("calibrate", ranked / "pipeline", folder / "dev.jsonl", "--apply-to", tmp_path / "plain")
    assert "reranker" in refused("E661", *args)


def test_a_bi_encoder_as_a_ranker(folder, tmp_path):
    encoder = BiEncoder(name="random:layers=1,width=16", tied=True)
    encoder.initialize()
    encoder.to_disk(tmp_path / "model")
    args = ("ranker", "add", folder / "pipeline", tmp_path / "model", tmp_path / "pipeline", "--top-k", 4)
    added = done(*args, "--mix", 0.5, "--json")
    assert (added.json["mix"], added.json["ranker_fingerprint"]) == (0.5, encoder.fingerprint)
    assert json.loads((tmp_path / "pipeline" / LINKER / "cfg.json").read_text())["reranker"]["kind"] == "DualEncoder"
    metrics = done("evaluate", tmp_path / "pipeline", folder / "dev.jsonl", "--output", tmp_path / "out", "--json")
    assert metrics.json["ranker_fingerprint"] == encoder.fingerprint
