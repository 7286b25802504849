"""Plots of an evaluation: recall@k, the precision-recall curve of NIL, the reliability of P(NIL)."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Mapping

import numpy as np
from numpy.typing import NDArray

from ..metrics.nil_metrics import precision_recall_curve
from ..metrics.outcomes import Outcomes
from ..metrics.reliability import reliability_curve
from .figure import new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_POINTS = 2000  # of a curve; more cannot be seen


def plot_recall(path: Path, runs: Mapping[str, Dict[str, Any]]) -> None:
    """Draw recall@k over k with its intervals.

    path (Path): the PNG file to write.
    runs (Mapping[str, Dict[str, Any]]): name of a run -> its metrics.
    """
    figure, axes = new_figure()
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
    save_figure(figure, axes, path)


def plot_nil(path: Path, runs: Mapping[str, Outcomes]) -> None:
    """Draw the precision-recall curve of the NIL class; a dot marks the calibrated decision.

    path (Path): the PNG file to write.
    runs (Mapping[str, Outcomes]): name of a run -> its outcomes.
    """
    figure, axes = new_figure()
    for name, outcomes in runs.items():
        draw_nil_curve(axes, outcomes, label=name)
    axes.set(xlabel="recall of NIL", ylabel="precision of NIL", title="NIL", xlim=(0, 1), ylim=(0, 1.02))
    save_figure(figure, axes, path)


def draw_nil_curve(axes: "Axes", outcomes: Outcomes, *, label: str, **style: Any) -> "Line2D":
    """Draw one precision-recall curve, with a dot at the decision.

    axes (Axes): where to.
    outcomes (Outcomes): with a NIL mention at least.
    label (str): in the legend.
    style (Any): of the line, for matplotlib.
    RETURNS (Line2D): the curve.
    """
    precision, recall, _ = precision_recall_curve(outcomes.nil_score, outcomes.is_nil)
    shown = _thinned(len(recall))
    line = axes.step(recall[shown], precision[shown], where="pre", label=label, **style)[0]
    hits = float((outcomes.called_nil & outcomes.is_nil).sum())
    if hits:
        at = (hits / outcomes.is_nil.sum(), hits / outcomes.called_nil.sum())
        axes.plot(*at, marker="o", color=line.get_color(), markeredgecolor="white", zorder=3, clip_on=False)
    return line


def plot_reliability(path: Path, runs: Mapping[str, Outcomes]) -> None:
    """Draw the share of NIL mentions over P(NIL); the larger a dot, the more mentions it stands for.

    path (Path): the PNG file to write.
    runs (Mapping[str, Outcomes]): name of a run -> its outcomes; runs whose nil_scores are no
        probabilities are left out.
    """
    figure, axes = new_figure(width=4.6, height=4.4)
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--", zorder=0)
    for name, outcomes in runs.items():
        curve = reliability_curve(outcomes.nil_score, outcomes.is_nil)
        if curve is None:
            continue
        line = axes.plot(curve.probability, curve.share, label=f"{name} (ECE {100 * curve.error:.1f} %)")[0]
        sizes = 12 + 150 * curve.n / curve.n.max()
        axes.scatter(
            curve.probability, curve.share, s=sizes, color=line.get_color(), alpha=0.8, clip_on=False
        )
    axes.set(xlabel="P(NIL)", ylabel="share that is NIL", title="Reliability", xlim=(0, 1), ylim=(0, 1))
    axes.set_aspect("equal")
    save_figure(figure, axes, path)


def _thinned(n: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, max(0, n - 1), min(n, _POINTS)).astype(np.int64))
