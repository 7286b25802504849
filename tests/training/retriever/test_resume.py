"""An interrupted training resumes exactly; the same seed gives the same model."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from spacy_pel.encoders.pretrained import load_encoder
from spacy_pel.errors import PelError

from ..conftest import CONFIG, SMALL, Stopped, contents, differing, metrics, stops_before

pytestmark = pytest.mark.slow

SLOW_TRAINING = """
import sys, json, time
from pathlib import Path
from spacy_pel.training.retriever import loop
from spacy_pel.training.retriever.settings import read_settings
update = loop.Trainer._update
def slow(*args):
    time.sleep(0.1)
    return update(*args)
loop.Trainer._update = slow
config, output, overrides = sys.argv[1:]
settings = read_settings(Path(config), json.loads(overrides))
loop.Trainer(settings, Path(output)).run()
"""


def test_same_seed_same_files_and_another_seed_others(train, tmp_path):
    torch.manual_seed(1)
    train(tmp_path / "one")
    torch.manual_seed(2)
    train(tmp_path / "two")
    assert differing(tmp_path / "one", tmp_path / "two") == []
    train(tmp_path / "three", system__seed=1)
    different = differing(tmp_path / "one", tmp_path / "three")
    assert {"metrics", "model-last/mention/model.safetensors"} <= set(different)


def test_kill_9_and_resume(train, data, tmp_path):
    overrides = json.dumps({**data, **SMALL})
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_TRAINING, str(CONFIG), str(killed), overrides],
        env={**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())},
    )
    try:
        end = time.monotonic() + 120
        while not (killed / "checkpoint").exists() and process.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    reached = json.loads((killed / "checkpoint" / "progress.json").read_text())["step"]
    assert 0 < reached < SMALL["pel.training.max_steps"]
    assert not (killed / "model-last").exists()
    train(killed, resume=True)
    train(whole)
    assert differing(killed, whole) == []


# 4 = right after a checkpoint; 20 mentions a batch make 5 steps of 8 an epoch with bare names
CASES = {
    "before the first checkpoint": (1, {}),
    "right after a checkpoint, two towers": (4, {"pel__encoder__tied": False}),
    "between checkpoints, bfloat16": (7, {"pel__training__mixed_precision": "bf16"}),
    "at the last step": (11, {}),
    "another mention as the positive": (
        *(9, {"pel__positives__card": 0.0, "pel__positives__name": 0.0, "pel__positives__mention": 1.0}),
    ),
    "own negatives, accumulated": (*(6, {"pel__negatives__shared": False, "pel__training__accumulate_gradient": 3}),),
}


@pytest.mark.parametrize(("step", "changes"), CASES.values(), ids=CASES.keys())
def test_stopped_and_resumed(check_resuming, step, changes):
    check_resuming(step, **changes)


def test_stopped_twice_and_between_model_best_and_checkpoint(train, tmp_path, monkeypatch):
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    with pytest.raises(Stopped):
        train(stopped, trainer=stops_before(6))

    def falls_over(*args):
        raise Stopped

    with monkeypatch.context() as patched:
        patched.setattr("spacy_pel.training.base_trainer.save_checkpoint", falls_over)
        with pytest.raises(Stopped):
            train(stopped, resume=True)
    assert [record["step"] for record in metrics(stopped)] == [2, 4, 6, 8]
    train(stopped, resume=True)
    train(whole)
    assert differing(stopped, whole) == []


def test_resuming_a_finished_training_changes_nothing(train, tmp_path):
    best = train(tmp_path / "run")
    before = contents(tmp_path / "run")
    again = train(tmp_path / "run", resume=True)
    assert again == best
    assert contents(tmp_path / "run") == before
    load_encoder(tmp_path / "run" / "model-last")  # its fingerprint is that of its weights


def test_a_finished_training_can_go_on(train, tmp_path):
    train(tmp_path / "run")
    train(tmp_path / "run", resume=True, pel__training__max_steps=16)
    assert [record["step"] for record in metrics(tmp_path / "run")] == list(range(2, 17, 2))


@pytest.fixture(scope="module")
def trained(train, tmp_path_factory):
    output = tmp_path_factory.mktemp("trained") / "run"
    train(output, pel__training__max_steps=2)
    return output


@pytest.fixture
def finished(trained, tmp_path):
    return Path(shutil.copytree(trained, tmp_path / "run"))


@pytest.mark.parametrize(
    "change",
    [
        {"system__seed": 7},
        {"pel__training__batch_size": 4},
        {"pel__positives__card": 0.5, "pel__positives__name": 0.5},
        {"pel__loss__alpha": 16.0},
        {"pel__encoder__name": "random:layers=1,width=32,seed=1"},
        {"pel__encoder__mention_template__max_length": 20},
    ],
    ids=str,
)
def test_the_checkpoint_of_another_config_is_refused(train, finished, change):
    before = contents(finished)
    with pytest.raises(PelError, match="E312"):
        train(finished, resume=True, **change)
    assert contents(finished) == before


def test_the_checkpoint_of_other_data_is_refused(train, finished, data, tmp_path):
    lines = open(data["paths.train"]).read().splitlines()
    (tmp_path / "other.jsonl").write_text("\n".join(lines[1:]) + "\n")
    with pytest.raises(PelError, match="E312"):
        train(finished, resume=True, paths__train=str(tmp_path / "other.jsonl"))


@pytest.mark.parametrize("file", ["objective.safetensors", "optimizer.safetensors", "progress.json"])
@pytest.mark.parametrize("damage", ["missing", "empty", "short", "other"])
def test_a_damaged_checkpoint_is_named(train, finished, file, damage):
    path = finished / "checkpoint" / file
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "short": content[: len(content) // 2], "other": b'{"a": 1}'}[damage])
    with pytest.raises(PelError, match="checkpoint") as error:
        train(finished, resume=True)
    assert "\n" not in str(error.value)
