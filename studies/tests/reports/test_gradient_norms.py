"""Gradient norms: smoothing and summary by hand, files of several kinds."""

import numpy as np
import pytest
from spacy_pel_studies.reports.gradient_norms import plot_norms, read_norms, smoothed, summary

from spacy_pel.errors import PelError
from spacy_pel.util import write_jsonl

NAN = float("nan")


def test_moving_average_by_hand():
    values = np.asarray([1.0, 2.0, 6.0, 3.0, 3.0])
    assert smoothed(values, 1).tolist() == values.tolist()
    assert smoothed(values, 3).tolist() == [1.5, 3.0, 11 / 3, 4.0, 3.0]
    assert smoothed(values, 2).tolist() == [1.0, 1.5, 4.0, 4.5, 3.0]
    assert smoothed(values, 99).tolist() == [3.0] * 5


def test_moving_average_leaves_out_what_is_not_finite():
    found = smoothed(np.asarray([1.0, NAN, 3.0, NAN, NAN, NAN]), 3)
    assert found == pytest.approx([1.0, 2.0, 3.0, 3.0, NAN, NAN], nan_ok=True)


def test_summary():
    assert summary(np.asarray([1.0, 3.0, NAN])) == (3, 1, 2.0, 1.0, 3.0)
    assert summary(np.asarray([NAN])) == (1, 1, None, None, None)


def test_read(tmp_path):
    records = [{"step": step, "loss": 1.0, "grad_norm": norm} for step, norm in ((2, 5.0), (1, 4.0), (2, 6.0))]
    write_jsonl(tmp_path / "steps.jsonl", [*records, {"step": 3, "grad_norm": None}])
    with (tmp_path / "steps.jsonl").open("a") as file:
        file.write('{"step": 4, "grad_norm": Infinity}\n')
    for path in (tmp_path, tmp_path / "steps.jsonl"):
        found = read_norms(path)
        assert found.steps.tolist() == [1, 2, 3, 4]
        assert found.norms == pytest.approx([4.0, 6.0, NAN, NAN], nan_ok=True)


def test_read_nothing(tmp_path):
    with pytest.raises(PelError, match="E619.*no such file"):
        read_norms(tmp_path)
    (tmp_path / "steps.jsonl").write_text("")
    with pytest.raises(PelError, match="E619.*empty"):
        read_norms(tmp_path)
    (tmp_path / "steps.jsonl").write_text('{"step": 1, "loss": 2}\n')
    with pytest.raises(PelError, match="E619.*grad_norm"):
        read_norms(tmp_path)


def test_figure_of_one_step_and_of_nothing_finite(tmp_path):
    write_jsonl(tmp_path / "steps.jsonl", [{"step": 1, "grad_norm": None}])
    plot_norms({"a": read_norms(tmp_path)}, [tmp_path / "a.png", tmp_path / "a.svg"], window=5)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
