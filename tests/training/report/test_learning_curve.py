"""The learning curve: what is read of a training, and what is drawn."""

import json

import numpy as np
import pytest

from spacy_pel.errors import PelError
from spacy_pel.training.report.learning_curve import plot_training, read_curve, training_figures

SCORES = [40.0, 35.0, 60.5, 58.0]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "encoder"
    path.mkdir()
    records = [{"step": 10 * i, "epoch": 0, "recall@1": score, "mrr": 0.5} for i, score in enumerate(SCORES)]
    records[1]["loss"] = 3.0
    steps = [{"step": i, "loss": None if i == 5 else 40.0 / i} for i in range(1, 31)]
    for name, lines in (("metrics", records), ("steps", steps)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_is_read(folder):
    curve = read_curve(folder)
    assert curve.metric == "recall@1"
    assert curve.scores.tolist() == [[10.0 * i, score] for i, score in enumerate(SCORES)]
    assert len(curve.losses) == 29 and curve.losses[0].tolist() == [1.0, 40.0], "a loss that is not finite is left out"


def test_the_untrained_and_the_best_value_are_marked(folder):
    figures = training_figures([folder])
    assert list(figures) == ["learning-curve", "loss"]
    axes = figures["learning-curve"][1]
    assert axes.lines[0].get_ydata().tolist() == SCORES
    hollow = next(line for line in axes.lines if line.get_markerfacecolor() == "white")
    assert hollow.get_xydata().tolist() == [[0.0, 40.0]]
    assert [text.get_text() for text in axes.texts] == ["60.5", "untrained 40"]
    assert axes.get_ylabel() == "recall@1 (%)" and axes.get_legend() is None
    pale, smooth = figures["loss"][1].lines
    assert len(pale.get_xdata()) == 29
    assert len(smooth.get_xdata()) == 22 and smooth.get_ydata()[0] == pytest.approx(pale.get_ydata()[:8].mean())


def test_several_trainings_are_named(folder):
    other = folder.rename(folder.parent / "one")
    (folder.parent / "two").mkdir()
    for file in other.iterdir():
        (folder.parent / "two" / file.name).write_bytes(file.read_bytes())
    axes = training_figures([other, folder.parent / "two"])["learning-curve"][1]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    assert training_figures([]) == {}


def test_the_file_is_the_same_each_time(folder):
    plot_training(folder)
    first = (folder / "learning_curve.png").read_bytes()
    assert first.startswith(b"\x89PNG") and len(first) > 10_000
    plot_training(folder)
    assert (folder / "learning_curve.png").read_bytes() == first


def test_one_evaluation_is_a_point(folder):
    (folder / "metrics.jsonl").write_text('{"step": 0, "epoch": 0, "accuracy": 0.5, "seconds": 1}\n')
    (folder / "steps.jsonl").write_text("")
    curve = read_curve(folder)
    assert curve.metric == "accuracy" and np.array_equal(curve.losses, np.zeros((0, 2)))
    plot_training(folder)


@pytest.mark.parametrize("name", ["metrics.jsonl", "steps.jsonl"])
@pytest.mark.parametrize("content", [None, "[1]\n", '{"step": 1}\n', "\x00"], ids=["none", "list", "keys", "binary"])
def test_what_is_no_training_is_refused(folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_text(content)
    with pytest.raises(PelError, match=r"PEL-E689.*spacy-pel train"):
        read_curve(folder)
