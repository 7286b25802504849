"""gradients on the steps of two trainings."""

import pytest
from cli.conftest import run

from spacy_pel.util import write_jsonl

pytestmark = pytest.mark.slow


@pytest.fixture
def trainings(tmp_path):
    for name, norm in (("a", 1.0), ("b", 3.0)):
        steps = ({"step": i, "loss": 0.5, "grad_norm": norm + i % 2, "learn_rate": 0.1} for i in range(1, 41))
        write_jsonl(tmp_path / name / "steps.jsonl", steps)
    return tmp_path


def test_figure_and_table(trainings):
    args = ["research", "gradients", trainings / "out"]
    args += ["--run", f"Pb random={trainings / 'a'}", "--run", f"CE = x={trainings / 'b'}"]
    assert run(*args).code == 2  # the first "=" ends the name
    args[-1] = f"CE random={trainings / 'b'}"
    result = run(*args)
    assert result.code == 0 and "gradients.svg" in result.err
    assert [line.split() for line in result.out.splitlines()[1:]] == [
        ["Pb", "random", "40", "0", "1.5", "0.5", "2"],
        ["CE", "random", "40", "0", "3.5", "0.5", "4"],
    ]
    assert (trainings / "out" / "gradients.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (trainings / "out" / "gradients.svg").read_text()
    assert run(*args, "--json", "--window", 5).json == {
        "runs": {
            name: {"n": 40, "n_not_finite": 0, "mean": mean, "std": 0.5, "max": mean + 0.5}
            for name, mean in (("Pb random", 1.5), ("CE random", 3.5))
        },
        "window": 5,
    }


@pytest.mark.parametrize("wrong", [["training/a"], ["=a"], ["a="], ["x=A", "x=A"]])
def test_runs_need_names(trainings, wrong):
    options = [part for one in wrong for part in ("--run", one.replace("A", str(trainings / "a")))]
    result = run("research", "gradients", trainings / "out", *options)
    assert result.code == 2 and "E627" in result.err and not (trainings / "out").exists()


def test_folder_without_steps(trainings):
    result = run("research", "gradients", trainings / "out", "--run", f"a={trainings}")
    assert result.code == 2 and "E619" in result.err
    assert run("research", "gradients", trainings / "out").code == 2
