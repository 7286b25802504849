"""Dual encoders by the commands: trained, put into a pipeline, studied; a bi-encoder as a ranker."""

import json
from pathlib import Path

import pytest

from spacy_pel.encoders.bi_encoder import BiEncoder

from .conftest import run

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[2] / "configs"
STUDY = """
[study]
test = "{folder}/dev.jsonl"
n_test = 20

[study.factors]

[study.factors.objective]

[study.factors.objective.prototype]

[study.factors.objective.prototype.anchors]
@pel_anchors = "spacy-pel.MeanPrototype.v1"
"""


@pytest.fixture
def arguments(folder):
    return (
        *("--paths.pipeline", folder / "pipeline", "--paths.train", folder / "train.jsonl"),
        *("--paths.dev", folder / "dev.jsonl", "--ranker.training.max_steps", 1),
        *("--ranker.training.eval_frequency", 1),
    )


def test_trained_and_put_into_a_pipeline(folder, arguments, tmp_path):
    trained = run("ranker", "train", CONFIGS / "triplet_tiny.cfg", "--output", tmp_path / "ranker", *arguments)
    assert trained.code == 0, trained.err
    added = run(
        *("ranker", "add", folder / "pipeline", tmp_path / "ranker" / "model-best", tmp_path / "pipeline"),
        *("--top-k", 4, "--backend", "torchbackend", "--mix", 0.5, "--json"),
    )
    assert added.code == 0 and added.json["mix"] == 0.5, added.err
    saved = json.loads((tmp_path / "pipeline" / "proxy_entity_linker" / "cfg.json").read_text())
    assert saved["reranker"]["kind"] == "DualEncoder"
    evaluated = run("evaluate", tmp_path / "pipeline", folder / "dev.jsonl", "--output", tmp_path / "out")
    assert evaluated.code == 0, evaluated.err
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["ranker_fingerprint"] == added.json["ranker_fingerprint"]


def test_a_bi_encoder_orders_candidates(folder, tmp_path):
    encoder = BiEncoder(name="random:layers=1,width=16", tied=True)
    encoder.initialize()
    encoder.to_disk(tmp_path / "model")
    added = run("ranker", "add", folder / "pipeline", tmp_path / "model", tmp_path / "pipeline", "--json")
    assert added.code == 0 and added.json["ranker_fingerprint"] == encoder.fingerprint, added.err
    linked = run("link", tmp_path / "pipeline", folder / "dev.jsonl", tmp_path / "out.jsonl")
    assert linked.code == 0, linked.err


def test_a_study_of_rankers(folder, arguments, tmp_path):
    config = tmp_path / "study.cfg"
    config.write_text((CONFIGS / "triplet_tiny.cfg").read_text() + STUDY.format(folder=folder))
    result = run("research", "study", config, "--output", tmp_path / "out", *arguments, "--json")
    assert result.code == 0, result.err
    assert [one["label"] for one in result.json["results"]] == ["candidates", "prototype"]
    (comparison,) = result.json["comparisons"]
    assert (comparison["without"], comparison["with"]) == ("candidates", "prototype")
    text = (tmp_path / "out" / "study.md").read_text()
    assert "| prototype | " in text and "71.5 / 71.4" in text and "candidates → prototype" in text
    folders = [tmp_path / "out" / name / "evaluation" for name in ("candidates", "prototype/seed0")]
    compared = run("compare", *folders, "--samples", 20)
    assert compared.code == 0, compared.err
    report = run("report", *folders, "--output", tmp_path / "report")
    assert report.code == 0, report.err
