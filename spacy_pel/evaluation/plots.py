"""Plots of an evaluation: recall@k and the precision-recall curve of NIL."""

from pathlib import Path
from typing import Any, Dict, Mapping

import numpy as np
from numpy.typing import NDArray

from ..util import atomic_path
from .nil_metrics import precision_recall_curve
from .outcomes import Outcomes

_POINTS = 2000  # of a curve; more cannot be seen


def plot_recall(path: Path, runs: Mapping[str, Dict[str, Any]]) -> None:
    """Draw recall@k over k with its intervals.

    path (Path): the PNG file to write.
    runs (Mapping[str, Dict[str, Any]]): name of a run -> its metrics.
    """
    figure, axes = _figure()
    ks = sorted(
        {
            int(key.split("@")[1])
            for run in runs.values()
            for key in run
            if key.startswith("recall@") and key[7:].isdigit()
        }
    )
    for name, run in runs.items():
        values = np.asarray([run[f"recall@{k}"] for k in ks])
        line = axes.plot(ks, 100 * values, marker="o", label=name)[0]
        if all(f"recall@{k}_low" in run for k in ks):
            low = [100 * run[f"recall@{k}_low"] for k in ks]
            high = [100 * run[f"recall@{k}_high"] for k in ks]
            axes.fill_between(ks, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.set(xlabel="k", ylabel="recall@k of mentions in the KB (%)", title="Candidates")
    _save(figure, axes, path)


def plot_nil(path: Path, runs: Mapping[str, Outcomes]) -> None:
    """Draw the precision-recall curve of the NIL class; a dot marks the calibrated decision.

    path (Path): the PNG file to write.
    runs (Mapping[str, Outcomes]): name of a run -> its outcomes.
    """
    figure, axes = _figure()
    for name, outcomes in runs.items():
        precision, recall, _ = precision_recall_curve(outcomes.nil_score, outcomes.is_nil)
        shown = _thinned(len(recall))
        line = axes.step(recall[shown], precision[shown], where="pre", label=name)[0]
        hits = float((outcomes.called_nil & outcomes.is_nil).sum())
        if hits:
            at = (hits / outcomes.is_nil.sum(), hits / outcomes.called_nil.sum())
            axes.plot(*at, marker="o", color=line.get_color())
    axes.set(xlabel="recall of NIL", ylabel="precision of NIL", title="NIL", xlim=(0, 1), ylim=(0, 1.02))
    _save(figure, axes, path)


def _thinned(n: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, max(0, n - 1), min(n, _POINTS)).astype(np.int64))


def _figure() -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # no pyplot: it would choose a backend for the whole process and keep the figure alive
    figure = Figure(figsize=(6, 4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _save(figure: Any, axes: Any, path: Path) -> None:
    axes.grid(alpha=0.3)
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    with atomic_path(path) as part:
        figure.savefig(part, format="png")
