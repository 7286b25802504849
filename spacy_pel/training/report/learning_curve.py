"""The learning curves of trainings: the metric on dev that selects the best model, and the loss, by update."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Errors, PelError
from ...evaluation.figures import COLORS, LINE_STYLES, new_figure, new_panels, save_figure
from ...evaluation.outcomes import run_names
from ...util import read_jsonl

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NO_SCORES = ("step", "epoch", "seconds")  # keys of the evaluation at step 0 beside the metrics on dev
_TEXT = "#595959"
_WINDOWS = 30  # a line of the loss has this many independent points,
_WINDOW = 8  # each the mean of as many updates or more


class Curve(NamedTuple):
    """The logs of a training.

    Attributes:
        metric: what selects the best model, e.g. "recall@1".
        scores: (n, 2) step and metric of each evaluation; step 0 is the untrained model.
        losses: (m, 2) step and loss of each update that had a finite one.
    """

    metric: str
    scores: NDArray[np.float64]
    losses: NDArray[np.float64]


def read_curve(folder: Path) -> Curve:
    """Read metrics.jsonl and steps.jsonl in the folder of a training.

    Raises:
        PelError: if it has none, or they are damaged.
    """
    try:
        records, steps = (list(read_jsonl(folder / name)) for name in ("metrics.jsonl", "steps.jsonl"))
        metric = next(key for key in records[0] if key not in _NO_SCORES)  # the log begins with that of ``dev.metric``
        scores = np.array([(record["step"], record[metric]) for record in records], dtype=np.float64)
        finite = [(record["step"], record["loss"]) for record in steps if record["loss"] is not None]
        losses = np.array(finite, dtype=np.float64).reshape(-1, 2)
    except (OSError, LookupError, StopIteration, TypeError, ValueError) as err:
        raise PelError(Errors.E689.format(path=folder)) from err
    return Curve(metric, scores, losses)


def plot_training(folder: Path) -> None:
    """Write learning_curve.png into the folder of a training."""
    figure, panels = new_panels(2, width=9.6, height=4.0)
    curves = {"": read_curve(folder)}
    for axes, draw in zip(panels, (_draw_scores, _draw_losses), strict=True):
        draw(axes, curves)
    save_figure(figure, panels[0], folder / "learning_curve.png")


def training_figures(folders: Sequence[Path]) -> dict[str, tuple["Figure", "Axes"]]:
    """The same for a page, as two figures with a line for each training.

    Args:
        folders: of trainings.

    Returns:
        Name -> figure and axes.

    Raises:
        PelError: as ``read_curve``.
    """
    curves = {name: read_curve(folder) for name, folder in zip(run_names(folders), folders, strict=True)}
    drawn = {}
    for name, draw in (("learning-curve", _draw_scores), ("loss", _draw_losses)) if curves else ():
        figure, axes = drawn[name] = new_figure()
        draw(axes, curves)
        if len(curves) > 1:  # the page names the evaluations only
            axes.legend()
    return drawn


def _draw_scores(axes: "Axes", curves: Mapping[str, Curve]) -> None:
    """A point for each evaluation; that of the untrained model is hollow, with a line at its height."""
    for (name, curve), look in zip(curves.items(), _looks(len(curves)), strict=True):
        steps, values = curve.scores.T
        axes.plot(steps, values, marker="o", markersize=5, label=name or None, **look)
        axes.axhline(values[0], color=look["color"], linewidth=0.8, linestyle=(0, (1, 3)), zorder=0)
        axes.plot(steps[:1], values[:1], "o", markersize=7, color=look["color"], markerfacecolor="white", zorder=3)
        if len(curves) == 1:
            _say(axes, steps, values)
    metrics = " or ".join(dict.fromkeys(curve.metric for curve in curves.values()))
    in_percent = " (%)" if metrics.startswith("recall@") else ""
    axes.set(xlabel="updates", ylabel=f"{metrics}{in_percent}", title="Learning curve on dev")
    axes.margins(x=0.04, y=0.15)


def _say(axes: "Axes", steps: NDArray[np.float64], values: NDArray[np.float64]) -> None:
    """Write the best value at its point, and the first one at the end of its line."""
    best = int(values.argmax())
    near: dict[str, Any] = {"textcoords": "offset points", "color": _TEXT}
    axes.annotate(f"{values[best]:.3g}", (steps[best], values[best]), xytext=(0, 8), ha="center", **near)
    end = axes.get_yaxis_transform()  # across the axes, at a value
    axes.annotate(f"untrained {values[0]:.3g}", (1, values[0]), xycoords=end, xytext=(0, 4), ha="right", **near)


def _draw_losses(axes: "Axes", curves: Mapping[str, Curve]) -> None:
    """Each update in pale, and the moving average."""
    for (name, curve), look in zip(curves.items(), _looks(len(curves)), strict=True):
        steps, losses = curve.losses.T
        width = max(1, len(losses) // _WINDOWS, min(_WINDOW, len(losses) // 3))
        axes.plot(steps, losses, color=look["color"], alpha=0.25, linewidth=0.8)
        if len(losses):
            smooth = np.convolve(losses, np.full(width, 1 / width), mode="valid")
            axes.plot(steps[width - 1 :] - (width - 1) / 2, smooth, label=name or None, **look)
    axes.set(xlabel="updates", ylabel="loss", title="Training loss")
    axes.margins(x=0.04)
    axes.set_ylim(bottom=0)


def _looks(n: int) -> list[dict[str, Any]]:
    return [{"color": COLORS[i % len(COLORS)], "linestyle": LINE_STYLES[i % len(LINE_STYLES)]} for i in range(n)]
