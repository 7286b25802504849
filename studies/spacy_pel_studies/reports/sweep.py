"""Metrics of runs over the values of one numeric setting, e.g. the alpha of mixing or a loss's margin."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from spacy_pel.errors import PelError
from spacy_pel.evaluation.figures import new_panels, save_figure

from ..errors import StudyErrors

METRICS = ("recall@1", "recall@64")
_LOG_FROM = 20  # times the smallest value, from which the axis of the values is logarithmic


class Measured(NamedTuple):
    """A metric and its 95% interval, if there is one."""

    value: float
    low: float | None
    high: float | None


class SweepPoint(NamedTuple):
    """The runs with one value of the setting.

    Attributes:
        value: of the setting.
        n_runs: seeds.
        metrics: by name; means over the seeds, also of the bounds of their intervals.
    """

    value: float
    n_runs: int
    metrics: dict[str, Measured]


def sweep_points(runs: Sequence[tuple[float, Path, dict[str, Any]]]) -> list[SweepPoint]:
    """Group the runs by the value of the setting.

    Args:
        runs: value of the setting, folder of the evaluation, its metrics.json.

    Returns:
        By ascending value.

    Raises:
        PelError: if an evaluation lacks a metric.
    """
    points = []
    for value in sorted({value for value, _, _ in runs}):
        same = [(path, metrics) for given, path, metrics in runs if given == value]
        measured = {}
        for name in METRICS:
            for path, metrics in same:
                if metrics.get(name) is None:
                    raise PelError(StudyErrors.E695.format(name=name, path=path))
            bounds: list[float | None] = []
            for bound in (f"{name}_low", f"{name}_high"):
                given = [metrics.get(bound) for _, metrics in same]
                bounds.append(None if None in given else mean(x for x in given if x is not None))
            measured[name] = Measured(mean(metrics[name] for _, metrics in same), *bounds)
        points.append(SweepPoint(value, len(same), measured))
    return points


def plot_sweep(lines: Mapping[str, list[SweepPoint]], setting: str, *paths: Path) -> None:
    """Draw recall@1 and recall@64 over the setting's values, a line for each kind of run.

    Args:
        lines: name -> points.
        setting: e.g. "pel.mixing.alpha".
        paths: files to write, .png or .svg.
    """
    figure, panels = new_panels(len(METRICS), width=10.0, height=4.0)
    values = sorted({point.value for points in lines.values() for point in points})
    for axes, name in zip(panels, METRICS, strict=True):
        for label, points in lines.items():
            x = [point.value for point in points]
            measured = [point.metrics[name] for point in points]
            line = axes.plot(x, [100 * one.value for one in measured], marker="o", label=label)[0]
            low = [100 * one.low for one in measured if one.low is not None]
            high = [100 * one.high for one in measured if one.high is not None]
            if len(low) == len(high) == len(x):
                axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        if values[0] > 0 and values[-1] >= _LOG_FROM * values[0]:
            axes.set_xscale("log")
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.minorticks_off()
        axes.set(xlabel=setting, ylabel=f"{name} (%)", title=name)
    save_figure(figure, panels[0], *paths)
