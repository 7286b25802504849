"""Dual encoders by the commands: trained and put into a pipeline; a bi-encoder as a ranker."""

import json
from pathlib import Path

from spacy_pel.encoders.bi_encoder import BiEncoder

from .conftest import done

CONFIGS = Path(__file__).parents[2] / "configs"


def test_trained_and_put_into_a_pipeline(folder, tmp_path):
    arguments = (
        *("--paths.pipeline", folder / "pipeline", "--paths.train", folder / "train.jsonl"),
        *("--paths.dev", folder / "dev.jsonl", "--ranker.training.max_steps", 1),
        *("--ranker.training.eval_frequency", 1),
    )
    done("ranker", "train", CONFIGS / "triplet_tiny.cfg", "--output", tmp_path / "ranker", *arguments)
    added = done(
        *("ranker", "add", folder / "pipeline", tmp_path / "ranker" / "model-best", tmp_path / "pipeline"),
        *("--top-k", 4, "--backend", "torchbackend", "--mix", 0.5, "--json"),
    )
    assert added.json["mix"] == 0.5
    saved = json.loads((tmp_path / "pipeline" / "proxy_entity_linker" / "cfg.json").read_text())
    assert saved["reranker"]["kind"] == "DualEncoder"
    done("evaluate", tmp_path / "pipeline", folder / "dev.jsonl", "--output", tmp_path / "out")
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["ranker_fingerprint"] == added.json["ranker_fingerprint"]


def test_a_bi_encoder_orders_candidates(folder, tmp_path):
    encoder = BiEncoder(name="random:layers=1,width=16", tied=True)
    encoder.initialize()
    encoder.to_disk(tmp_path / "model")
    added = done("ranker", "add", folder / "pipeline", tmp_path / "model", tmp_path / "pipeline", "--json")
    assert added.json["ranker_fingerprint"] == encoder.fingerprint
    done("link", tmp_path / "pipeline", folder / "dev.jsonl", tmp_path / "out.jsonl")
