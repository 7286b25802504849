"""metrics.jsonl and steps.jsonl: a line for each evaluation and update, cut where a training is resumed."""

import json

import pytest

from spacy_pel.cli._output import key_values, plain
from spacy_pel.training.retriever.loop import Trainer
from spacy_pel.training.training_log import TrainingLog

from .conftest import metrics

VALUES = {"loss": 1.5, "grad_norm": 0.25, "learn_rate": 1e-3, "accuracy": 0.5}


def lines(folder, name="steps"):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


def fill(folder, first, last, resume_at=0):
    log = TrainingLog(folder, resume_at=resume_at, total=1000, metric="recall@1")
    for step in range(first, last + 1):
        log.add_step(step, {**VALUES, "loss": float(step)}, rate=1.0)
        if step % 2 == 0:
            log.add_evaluation(step, 0, {"recall@1": float(step)}, rate=1.0)
    return log


def test_a_line_for_each_step(tmp_path):
    fill(tmp_path, 1, 9)
    assert [line["step"] for line in lines(tmp_path)] == list(range(1, 10))
    assert lines(tmp_path)[1] == {"step": 2, "loss": 2.0, "grad_norm": 0.25, "learn_rate": 1e-3}


@pytest.mark.parametrize("tail", ["", '{"step": 9, "lo', '{"step": 9}\n{"step": 10', "\n", "[3]\n", "\x00\x00"])
def test_cut_on_resuming_and_emptied_otherwise(tmp_path, tail):
    fill(tmp_path, 1, 8)
    for name in ("steps", "metrics"):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(path.read_text() + tail)
    fill(tmp_path, 6, 7, resume_at=5)
    assert [line["step"] for line in lines(tmp_path)] == list(range(1, 8))
    assert [record["step"] for record in lines(tmp_path, "metrics")] == [2, 4, 6]
    log = fill(tmp_path, 8, 9, resume_at=7)
    assert [line["step"] for line in lines(tmp_path)] == list(range(1, 10))
    assert log.best()["step"] == 8
    fill(tmp_path, 1, 0)
    assert lines(tmp_path) == lines(tmp_path, "metrics") == []


def test_before_the_first_update_there_are_scores_alone(tmp_path):
    log = TrainingLog(tmp_path, resume_at=0, total=2, metric="mrr")
    log.add_evaluation(0, 0, {"recall@1": 0.9, "mrr": 0.9})
    assert log.best() == {}, "the untrained model is not saved"
    log.add_step(1, VALUES, rate=1.0)
    log.add_evaluation(1, 0, {"recall@1": 0.5, "mrr": 0.5}, rate=1.0)
    assert log.best()["step"] == 1
    assert list(lines(tmp_path, "metrics")[0]) == ["step", "epoch", "mrr", "recall@1", "seconds"]
    resumed = TrainingLog(tmp_path, resume_at=1, total=2, metric="mrr")
    assert [record["step"] for record in resumed.records] == [0, 1]


def test_people_read_percent_and_files_hold_shares(tmp_path, caplog):
    caplog.set_level("INFO", logger="spacy_pel")
    log = TrainingLog(tmp_path, resume_at=0, total=2, metric="recall@1")
    log.add_step(1, {**VALUES, "accuracy": 0.3214}, rate=1.0)
    log.add_evaluation(1, 0, {"recall@1": 0.41, "mrr": 0.5}, rate=1.0)
    assert "accuracy 32.1%" in caplog.text and "recall@1 41.0%, mrr 50.0%" in caplog.text
    assert lines(tmp_path, "metrics")[0].items() >= {"accuracy": 0.3214, "recall@1": 0.41}.items()


SHARES = "recall@1,recall@64_low,accuracy,accuracy_seen,nil_share,nil_f1,share_in_kb,share in kb,expected_coverage@95"
SHARES += ",train.share_in_kb,mrr,answer_ece,recall_all@1,dev_accuracy,mismatch_share,typed_f1"


def test_what_is_shown_in_percent():
    others = "loss,threshold,learn_rate,similarity+,seconds,nil_score"
    for names, shown in ((SHARES, "41.3%"), (others, "0.4130")):
        for name in names.split(","):
            assert plain(0.413, name) == shown and key_values({name: 0.413}).endswith(f"  {shown}"), name


def test_what_is_not_finite_is_null(tmp_path):
    log = fill(tmp_path, 1, 0)
    log.add_step(1, {**VALUES, "grad_norm": float("inf"), "loss": float("nan")}, rate=1.0)
    assert lines(tmp_path) == [{"step": 1, "loss": None, "grad_norm": None, "learn_rate": 1e-3}]


@pytest.mark.parametrize("accumulate", [1, 3])
def test_metrics_are_the_means_of_the_steps(train, tmp_path, accumulate):
    losses = []

    class Seen(Trainer):
        def _update(self, objective, *args):
            handle = objective.register_forward_hook(lambda _, i, output: losses.append(output[0].item()))
            try:
                return super()._update(objective, *args)
            finally:
                handle.remove()

    train(tmp_path / "run", trainer=Seen, pel__training__accumulate_gradient=accumulate)
    steps, log = lines(tmp_path / "run"), metrics(tmp_path / "run")
    assert [line["step"] for line in steps] == list(range(1, 13))
    means = [sum(losses[i : i + accumulate]) / accumulate for i in range(0, 12 * accumulate, accumulate)]
    assert [line["loss"] for line in steps] == pytest.approx(means)
    for record in log:
        window = [line for line in steps if record["step"] - 2 < line["step"] <= record["step"]]
        for key in ("loss", "grad_norm"):
            assert record[key] == pytest.approx(sum(line[key] for line in window) / 2)
        assert record["learn_rate"] == window[-1]["learn_rate"]
