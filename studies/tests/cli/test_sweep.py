"""sweep on folders of evaluations."""

import pytest
from cli.conftest import run

from spacy_pel.util import read_json, write_json, write_jsonl

pytestmark = pytest.mark.slow


@pytest.fixture
def runs(tmp_path):
    options = []
    for value, recall in ((0.1, 0.4), (0.5, 0.6)):
        path = tmp_path / f"run{value}"
        bounds = {"recall@1_low": recall - 0.1, "recall@1_high": recall + 0.1}
        write_json(path / "metrics.json", {"recall@1": recall, "recall@64": 0.9, **bounds})
        write_jsonl(path / "predictions.jsonl", [])
        options += ["--run", f"{value}={path}"]
    return options


def test_table_and_files(runs, tmp_path):
    args = ("research", "sweep", tmp_path / "out", "--setting", "pel.mixing.alpha")
    out = run(*args, *runs).out.splitlines()
    assert out[0].split() == ["run", "pel.mixing.alpha", "seeds", "recall@1", "recall@64"]
    assert out[1].split() == ["runs", "0.1", "1", "40.0", "[30.0,", "50.0]", "90.0"]
    assert (tmp_path / "out" / "sweep.png").read_bytes().startswith(b"\x89PNG")
    found = read_json(tmp_path / "out" / "sweep.json")
    assert found["lines"]["runs"][1]["recall@1"] == {"value": 0.6, "low": 0.5, "high": 0.7}
    assert run(*args, *runs, "--json").json == found


def test_refused(runs, tmp_path):
    args = ("research", "sweep", tmp_path / "out", "--setting", "x")
    assert "E694" in run(*args).err
    assert "E694" in run(*args, *runs, "--study", tmp_path / "a.cfg", tmp_path).err
    for wrong in ("a=b", "0.1", runs[1]):
        result = run(*args, *runs, "--run", wrong)
        assert result.code == 2 and "E694" in result.err and not (tmp_path / "out").exists()
    assert "E680" in run(*args, "--run", f"1={tmp_path}").err
