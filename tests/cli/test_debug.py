"""debug: what it checks and what it says."""

import shutil

import pytest

from .conftest import done, refused, run

TRAIN = """
[paths]
kb = "{folder}/kb"
train = "{folder}/train.jsonl"
dev = "{folder}/dev.jsonl"

[system]
seed = 0

[pel]

[pel.encoder]
@pel_encoders = "spacy-pel.BiEncoder.v1"
name = "random:layers=1,width=32"

[pel.loss]
@pel_losses = "spacy-pel.ProxySoftplus.v1"

[pel.negatives]
@pel_negatives = "spacy-pel.InBatchNegatives.v1"

[pel.training]
batch_size = 16
max_epochs = 3
eval_frequency = 4
"""


@pytest.fixture
def config(folder, tmp_path):
    path = tmp_path / "train.cfg"
    path.write_text(TRAIN.replace("{folder}", str(folder)))
    return path


def test_training_config(config):
    result = done("debug", config, "--json")
    facts = result.json
    assert facts["kb.entities"] == 8
    assert (facts["train.mentions"], facts["train.in_kb"], facts["train.share_in_kb"]) == (40, 40, 1.0)
    assert (facts["dev.mentions"], facts["dev.nil"]) == (80, 28)
    assert 0 < facts["dev.share_seen"] < 1
    assert facts["updates"] == 9  # 40 mentions in batches of 16, three times
    assert facts["evaluations"] == 10, "after each update, and before the first"
    assert facts["parts"]["loss"] == "ProxySoftplus"


def test_overrides_reach_the_training(config):
    fewer = run("debug", config, "--pel.training.max_epochs", 1, "--json").json
    assert fewer["updates"] == 3
    assert fewer["next"].endswith("--output DIR --pel.training.max_epochs 1")  # the same settings


def test_the_first_weights_are_there(config, tiny_bert, tmp_path):
    assert run("debug", config, "--pel.encoder.name", tiny_bert).code == 0
    model = shutil.copytree(tiny_bert, tmp_path / "model")
    for weights in [*model.glob("*.safetensors"), *model.glob("*.bin")]:
        weights.unlink()
    assert "has no weights" in refused("E303", "debug", config, "--pel.encoder.name", model)


def test_names_alone_need_no_corpus(config):
    options = ("--pel.positives.alias_share", 1.0, "--paths.train", "null", "--paths.dev", "null")
    result = run("debug", config, "--json", *options)
    assert result.code == 0, result.err
    assert result.json["examples_per_epoch"] > 8 and "train.mentions" not in result.json


def test_pipeline_config(folder):
    result = done("debug", folder / "pipeline.cfg", "--json")
    assert result.json["pipeline"] == ["entity_ruler", "proxy_entity_linker"]


@pytest.mark.parametrize(
    "overrides, said",
    [
        (["--pel.training.max_epoch", "1"], "max_epoch"),
        (["--pel.training.batch_size", "many"], "batch_size"),
        (["--pel.loss.@pel_losses", "spacy-pel.Nothing.v1"], "Nothing"),
        (["--paths.train", "/nonexistent.jsonl"], "/nonexistent.jsonl"),
        (["--paths.dev", "null"], "paths.dev"),
        (["--pel.loss.alpah", "3"], "alpah"),
        (["loss"], "E600"),
        (["--pel.encoder.name", "/nonexistent/model"], "E303"),
    ],
)
def test_what_is_wrong(config, overrides, said):
    result = run("debug", config, *overrides)
    assert result.code == 2 and said in result.err and result.err.count("\n") == 1, result.err


def test_a_missing_folder_of_a_pipeline_config(folder, tmp_path):
    path = tmp_path / "pipeline.cfg"
    path.write_text((folder / "pipeline.cfg").read_text().replace(str(folder / "kb"), "/nonexistent/kb"))
    result = run("debug", path)
    assert result.code == 2 and "kb_loader.path = /nonexistent/kb" in result.err


def test_a_config_of_something_else(tmp_path):
    path = tmp_path / "other.cfg"
    path.write_text("[other]\nkey = 1\n")
    assert "E601" in run("debug", path).err
