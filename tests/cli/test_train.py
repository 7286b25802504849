"""The command ``train``: what it prints and leaves, and exit code 2 with one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import run

CONFIG = Path(__file__).parents[2] / "configs" / "tiny.cfg"


@pytest.fixture
def train(folder):
    def call(output, *args):
        return run(
            *("train", CONFIG, "--output", output),
            *("--paths.kb", folder / "kb"),
            *("--paths.train", folder / "train.jsonl"),
            *("--paths.dev", folder / "dev.jsonl"),
            *("--pel.training.eval_frequency", 2, "--pel.training.max_steps=4", *args),
        )

    return call


@pytest.mark.slow
def test_train_and_resume(train, tmp_path):
    result = train(tmp_path / "run", "--json")
    assert result.code == 0, result.err
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [0, 1, 2, 3, 4]
    assert result.json["best"] in lines
    assert result.json["model"] == str(tmp_path / "run" / "model-best")
    assert "step 4" in result.err and "step" not in result.out.replace('"step"', "")
    resumed = train(tmp_path / "run", "--resume", "--pel.training.max_steps", 6)
    assert resumed.code == 0, resumed.err
    assert "recall@1" in resumed.out
    assert "Resuming at step 4" in resumed.err


@pytest.mark.slow
def test_the_log_has_no_noise_of_libraries(folder, tiny_bert, tmp_path):
    """Its file has a pooler that is not read, of which transformers would tell."""
    paths = [f"--paths.{name}={folder / file}" for name, file in (("kb", "kb"), ("train", "train.jsonl"))]
    settings = [*paths, f"--paths.dev={folder / 'dev.jsonl'}", f"--pel.encoder.name={tiny_bert}"]
    command = [sys.executable, "-m", "spacy_pel", "train", CONFIG, "-o", tmp_path, *settings]
    done = subprocess.run([*command, "--pel.training.max_steps=1"], capture_output=True, text=True, check=True)
    said = [
        line for line in done.stderr.replace("\r", "\n").splitlines() if line.strip()
    ]  # a bar that goes leaves blanks
    ours = ("Mentions with", "Tokenising", "Training:", "step ", "40 mentions", "[PEL-")
    assert said and [line for line in said if not line.startswith(ours)] == []


def test_an_output_that_holds_a_training(train, tmp_path):
    (tmp_path / "run" / "model-last").mkdir(parents=True)
    (tmp_path / "run" / "checkpoint").mkdir()
    result = train(tmp_path / "run")
    assert result.code == 2 and "E314" in result.err and "--resume" in result.err
    (tmp_path / "run" / "checkpoint").rmdir()
    for words in ([], ["--resume"]):
        result = train(tmp_path / "run", *words)
        assert result.code == 2 and "E338" in result.err and "resume" not in result.err
