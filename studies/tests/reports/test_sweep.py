"""Figures along one setting: means over seeds, pictures."""

from pathlib import Path

import pytest
from spacy_pel_studies.reports.sweep import plot_sweep, sweep_points

from spacy_pel.errors import PelError


def metrics(value, **other):
    recalls = {name: value for name in ("recall@1", "recall@64")}
    bounds = {f"{name}_{bound}": value + d for name in recalls for bound, d in (("low", -0.1), ("high", 0.2))}
    return {**recalls, **bounds, **other}


def test_seeds_are_put_together():
    runs = [(0.3, Path("b"), metrics(0.6)), (0.1, Path("a"), metrics(0.4)), (0.3, Path("c"), metrics(0.8))]
    first, second = sweep_points(runs)
    assert (first.value, first.n_runs, second.value, second.n_runs) == (0.1, 1, 0.3, 2)
    assert second.metrics["recall@1"] == pytest.approx((0.7, 0.6, 0.9))
    plain = {"recall@1": 0.5, "recall@64": 0.9}
    (point,) = sweep_points([(1.0, Path("a"), plain)])
    assert point.metrics["recall@64"] == (0.9, None, None)
    with pytest.raises(PelError, match="E695.*recall@64"):
        sweep_points([(1.0, Path("a"), {"recall@1": 0.5})])


def test_the_same_picture_with_and_without_intervals(tmp_path):
    lines = {
        "DUAL": sweep_points([(k, Path("a"), metrics(k / 100)) for k in (1, 4, 64)]),
        "SOM": sweep_points([(k, Path("a"), {"recall@1": 0.5, "recall@64": 0.9}) for k in (0, 2)]),
    }
    for folder in ("a", "b"):
        plot_sweep(lines, "pel.mixing.k", tmp_path / folder / "sweep.png", tmp_path / folder / "sweep.svg")
    for file in ("sweep.png", "sweep.svg"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
