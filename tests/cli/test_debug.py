"""debug: what it checks and what it says."""

from pathlib import Path

import pytest

from .conftest import FIXTURES, done, refused, run

CONFIGS = Path(__file__).parents[2] / "configs"


@pytest.fixture
def config(folder, tmp_path):
    path = tmp_path / "train.cfg"
    path.write_text((FIXTURES / "train.cfg").read_text().replace("{folder}", str(folder)))
    return path


def test_training_config(config):
    result = done("debug", config, "--json")
    facts = result.json
    assert facts["kb.entities"] == 8
    assert (facts["train.mentions"], facts["train.in_kb"], facts["train.share_in_kb"]) == (40, 40, 1.0)
    assert (facts["dev.mentions"], facts["dev.in_kb"]) == (80, 52)
    assert facts["updates"] == 9  # 40 mentions in batches of 16, three times
    assert facts["evaluations"] == 10, "after each update, and before the first"
    assert facts["parts"]["loss"] == "ProxySoftplus"


def test_overrides_reach_the_training(config):
    fewer = run("debug", config, "--pel.training.max_epochs", 1, "--json").json
    assert fewer["updates"] == 3
    assert fewer["next"].endswith("--output DIR --pel.training.max_epochs 1")  # the same settings


# what both commands refuse, with the same message
NONSENSE = {
    "--pel.loss.alpha": ["nan", "x"],
    "--pel.training.dev.metric": ["recall@7"],
    "--pel.training.dev.recall_at": ["[1.5]"],
    "--pel.positives.name": [0.6],  # and the card's 1 make 1.6
    "--pel.training.optimizer.learn_rate": [0],
    "--pel.training.batch_size": [1e9],
    "--pel.encoder.mention_template.max_length": [513],
    "--pel.encoder.name": ["package:no_such_package"],
    "--paths.train": ["/nonexistent.jsonl"],
    "--system.seed": [-3],
    "--wrong": [1],
    "--pel.regularizer": ['{"@pel_regularizers": "spacy-pel.FGSM.v1", "epsilon": -0.01}'],
    "--pel.negatives": [
        f'{{"@pel_negatives": "spacy-pel.{kind}.v1", {settings}}}'
        for kind, settings in (("RandomNegatives", '"n_negatives": 1000000000'), ("MixedNegatives", '"percent": 101'))
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NONSENSE)
def test_debug_refuses_what_train_refuses(config, tmp_path, name):
    for value in NONSENSE[name]:
        parts = {"mention": "MarkedContext", "entity": "EntityCard"}
        needed = [f"--pel.encoder.{side}_template.@pel_templates=spacy-pel.{part}.v1" for side, part in parts.items()]
        found = [
            run(*command, *needed, name, value)
            for command in (("debug", config), ("train", config, "-o", tmp_path / "o"))
        ]
        assert [one.code for one in found] == [2, 2], (name, value, found)
        errors = [one.err.splitlines()[-1] for one in found]
        assert errors[0] == errors[1] and errors[0].startswith("Error: [PEL-E"), (name, value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("--pel.training.batchsize", "batch_size"),
        ("--training.batchsize", "pel.training.batch_size"),
        ("--pel.loss.alpah", "alpha"),
        ("--path.train", "paths.train"),
    ],
)
def test_the_name_meant(config, name, meant):
    assert f"did you mean '{meant}'?" in run("debug", config, name, 1).err


def test_ranker_config(folder, tmp_path):
    path = CONFIGS / "ranker_tiny.cfg"
    data = [f"--paths.{name}={folder / name}.jsonl" for name in ("train", "dev")]
    data.append(f"--paths.pipeline={folder / 'pipeline'}")
    result = done("debug", path, *data, "--json").json
    assert result["parts"] == {"model": "CrossEncoder"} and result["train.mentions"] == 40
    for setting, code in (
        ("model.length=600", "E352"),
        ("training.batchsize=3", "E390"),
        ("anchors.@pel_anchors=spacy-pel.AllMentions.v1", "E348"),
    ):
        errors = [
            refused(code, *command, f"--ranker.{setting}", *data)
            for command in (("debug", path), ("ranker", "train", path, "-o", tmp_path / "out"))
        ]
        assert errors[0].splitlines()[-1] == errors[1].splitlines()[-1]
