"""candidates add, and the config of a pipeline that has a generator and no encoder."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_pel.kb import KnowledgeBase
from spacy_pel.registry import registry
from spacy_pel.types import Entity

from .conftest import done, refused, run
from .test_ranker import CONFIG

pytestmark = pytest.mark.slow


GENERATOR_CONFIG = CONFIG.with_name("generator.cfg")

LINKER = Path("proxy_entity_linker")


@pytest.fixture(scope="module")
def tfidf(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("generator") / "tfidf"
    generator = registry.pel_candidates.get("spacy-pel.TfIdf.v1")(char_ngrams=(2, 4))
    generator.build(KnowledgeBase.from_disk(folder / "kb"))
    generator.to_disk(path)
    return path


@pytest.fixture(scope="module")
def alone(folder, tfidf):
    """The pipeline of configs/generator.cfg, which spaCy assembles."""
    from spacy.cli import app as spacy_app

    out = tfidf.parent / "assembled"
    paths = ["--paths.kb", str(folder / "kb"), "--paths.generator", str(tfidf)]
    result = CliRunner().invoke(spacy_app, ["assemble", str(GENERATOR_CONFIG), str(out), *paths])
    assert result.exit_code == 0, result.output
    return out


def learned(pipeline):
    return json.loads((pipeline / LINKER / "cfg.json").read_text())


def parts(pipeline):
    return sorted(path.name for path in (pipeline / LINKER).iterdir())


def evaluated(pipeline, folder, out):
    return done("evaluate", pipeline, folder / "dev.jsonl", "--output", out, "--json").json


def test_in_the_place_of_the_vectors(folder, tfidf, tmp_path):
    calibrated = tmp_path / "calibrated"
    assert run("calibrate", folder / "pipeline", folder / "dev.jsonl", "--output", calibrated).code == 0
    result = done("candidates", "add", calibrated, tfidf, tmp_path / "out", "--json")
    assert result.json["generator"] == "TfIdf" and result.json["encoder"] is False
    assert parts(tmp_path / "out") == ["cfg.json", "generator", "kb", "manifest.json"]
    saved = learned(tmp_path / "out")
    assert saved["calibrated_threshold"] is None and "confidence" not in saved
    assert saved["combiner"]["state"] == saved["nil_model"]["state"] == {}
    assert run("calibrate", tmp_path / "out", folder / "dev.jsonl").code == 0
    metrics = evaluated(tmp_path / "out", folder, tmp_path / "metrics")
    assert metrics["recall@1"] == 1.0 and metrics["threshold"] is not None
    assert metrics["n_seen"] == 0 and "index_fingerprint" not in metrics
    linked = done("link", tmp_path / "out", folder / "dev.jsonl", tmp_path / "linked.jsonl", "--json")
    assert linked.json["mentions"] > 0


def test_bad_input(folder, tfidf, alone, tmp_path):
    out = tmp_path / "out"
    strange = registry.pel_candidates.get("spacy-pel.TfIdf.v1")()
    strange.build(KnowledgeBase([Entity("X1", "aspirin")]))
    strange.to_disk(tmp_path / "strange")
    refused("E443", "candidates", "add", folder / "pipeline", tmp_path / "strange", out)
    refused("E007", "candidates", "add", folder / "pipeline", folder / "model", out)
    assert run("candidates", "add", folder / "model", tfidf, out).code == 2
    assert not out.exists()
