"""steps.jsonl: a line an update, cut where a training goes on."""

import json

import pytest

from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.step_log import StepLog

from .conftest import metrics

FIGURES = {"loss": 1.5, "grad_norm": 0.25, "learn_rate": 1e-3, "accuracy": 0.5}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def fill(path, first, last, **settings):
    log = StepLog(path, **settings)
    for step in range(first, last + 1):
        log.add(step, {**FIGURES, "loss": float(step)})
    return log


def test_lines(tmp_path):
    fill(tmp_path / "steps.jsonl", 1, 3).flush()
    assert lines(tmp_path / "steps.jsonl")[1] == {
        "step": 2, "loss": 2.0, "grad_norm": 0.25, "learn_rate": 1e-3
    }  # fmt: skip
    assert [line["step"] for line in lines(tmp_path / "steps.jsonl")] == [1, 2, 3]


def test_written_now_and_then_and_when_asked(tmp_path):
    path = tmp_path / "steps.jsonl"
    log = fill(path, 1, 250)
    assert 100 <= len(lines(path)) < 250
    log.flush()
    log.flush()
    assert [line["step"] for line in lines(path)] == list(range(1, 251))


@pytest.mark.parametrize("tail", ["", '{"step": 9, "lo', '{"step": 9}\n{"step": 10', "\n", "[3]\n", "\x00\x00"])
def test_cut_on_resuming_and_emptied_when_anew(tmp_path, tail):
    path = tmp_path / "steps.jsonl"
    fill(path, 1, 8).flush()
    path.write_text(path.read_text() + tail)
    fill(path, 6, 7, resume_at=5).flush()
    assert [line["step"] for line in lines(path)] == list(range(1, 8))
    fill(path, 8, 9, resume_at=7).flush()
    assert [line["step"] for line in lines(path)] == list(range(1, 10))
    StepLog(path)
    assert lines(path) == []


def test_what_is_not_finite_is_null(tmp_path):
    log = StepLog(tmp_path / "steps.jsonl")
    log.add(1, {**FIGURES, "grad_norm": float("inf"), "loss": float("nan")})
    log.flush()
    (line,) = lines(tmp_path / "steps.jsonl")
    assert line["grad_norm"] is None and line["loss"] is None and line["learn_rate"] == 1e-3


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_line_an_update_whose_means_are_the_metrics(train, tmp_path, accumulate):
    train(tmp_path / "run", pel__training__accumulate_gradient=accumulate)
    steps, log = lines(tmp_path / "run" / "steps.jsonl"), metrics(tmp_path / "run")
    assert [line["step"] for line in steps] == list(range(1, 13))
    for record in log:
        window = [line for line in steps if record["step"] - 4 < line["step"] <= record["step"]]
        for key in ("loss", "grad_norm"):
            assert record[key] == pytest.approx(sum(line[key] for line in window) / 4)
        assert record["learn_rate"] == window[-1]["learn_rate"]


def test_the_loss_of_an_update_is_the_mean_of_its_batches(train, tmp_path):
    losses = []

    class Seen(Trainer):
        def _update(self, objective, *args):
            handle = objective.register_forward_hook(lambda _, i, output: losses.append(output[0].item()))
            try:
                return super()._update(objective, *args)
            finally:
                handle.remove()

    train(tmp_path / "run", trainer=Seen, pel__training__accumulate_gradient=3, pel__training__max_steps=4)
    assert len(losses) == 12
    means = [sum(losses[i : i + 3]) / 3 for i in range(0, 12, 3)]
    assert [line["loss"] for line in lines(tmp_path / "run" / "steps.jsonl")] == pytest.approx(means)
