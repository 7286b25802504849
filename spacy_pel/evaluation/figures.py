"""Figures of evaluations (recall@k, NIL, reliability, risk over coverage), and one style for all figures: the same data
gives the same bytes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Errors, PelError
from ..types import Numbers
from ..util import atomic_path
from .metrics.all_metrics import precision_recall_curve
from .metrics.probabilities import ACCURACIES, RankedAnswers, reliability_curve
from .outcomes import Outcomes, Run

try:
    from matplotlib import rc_context
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
except ImportError as err:  # on import, so that a command fails before its work, not after it
    raise PelError(Errors.E003.format(feature="Drawing figures", package="matplotlib", extra="report")) from err

# Okabe and Ito's colour-blind safe palette, ordered so that neighbours also differ in lightness
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#595959")
LINE_STYLES = ("-", "--", ":", "-.", "--", ":", "-.")  # report.css has the same for the names of the runs
GREY = "#999999"  # axes and grid lines


def new_figure(*, width: float = 6.0, height: float = 4.0) -> tuple[Figure, Axes]:
    """Start a figure with one set of axes.

    Args:
        width, height: inches, at 120 dots per inch.

    Returns:
        Draw into the axes, then call ``save_figure``.
    """
    figure, panels = new_panels(1, width=width, height=height)
    return figure, panels[0]


def new_panels(n: int, *, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Start a figure with several sets of axes side by side.

    Args:
        n: number of sets.
        width, height: of the whole figure, as in ``new_figure``.

    Returns:
        Draw into the axes, then call ``save_figure``.
    """
    # no pyplot: it would choose a backend for the whole process and keep the figure alive
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panels = [figure.add_subplot(1, n, number + 1) for number in range(n)]
    for axes in panels:
        axes.set_prop_cycle(color=COLORS, linestyle=LINE_STYLES)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        axes.grid(alpha=0.3)
    return figure, panels


def save_figure(figure: Figure, axes: Axes, *paths: Path) -> None:
    """Add the legend and write the figure.

    Args:
        figure, axes: as ``new_figure`` gave them; of several axes the one with the legend.
        paths: files to write; their names end in .png or .svg.
    """
    if axes.get_legend_handles_labels()[0]:
        axes.legend()
    for path in paths:
        # neither the time nor random ids in the file
        metadata = {"Software": None} if path.suffix == ".png" else {"Date": None}
        with rc_context({"svg.hashsalt": "spacy-pel"}), atomic_path(path) as part:
            figure.savefig(part, format=path.suffix[1:], metadata=metadata)


def plot_run(run: Run) -> None:
    """Write recall.png, nil.png, reliability.png and risk_coverage.png into the folder of an evaluation."""
    outcomes = {"linker": run.outcomes}
    save_figure(*recall_figure({"linker": run.metrics}), run.path / "recall.png")
    save_figure(*nil_figure(outcomes), run.path / "nil.png")
    save_figure(*reliability_figure(outcomes), run.path / "reliability.png")
    save_figure(*risk_figure(outcomes), run.path / "risk_coverage.png")


def recall_figure(runs: Mapping[str, dict[str, Any]]) -> tuple[Figure, Axes]:
    """Draw recall@k over k with its intervals.

    Args:
        runs: name of a run -> its metrics.
    """
    figure, axes = new_figure()
    every_k = set()
    for name, metrics in runs.items():
        keys = (key for key in metrics if key.startswith("recall@") and key[7:].isdigit())
        ks = sorted(int(key[7:]) for key in keys)
        every_k.update(ks)
        ends = ("", "_low", "_high")
        value, low, high = ([100 * metrics.get(f"recall@{k}{end}", np.nan) for k in ks] for end in ends)
        line = axes.plot(ks, value, marker="o", label=name)[0]
        axes.fill_between(ks, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sorted(every_k), [str(k) for k in sorted(every_k)])
    axes.set(xlabel="k", ylabel="recall@k of mentions in the KB (%)", title="Candidates")
    return figure, axes


def nil_figure(runs: Mapping[str, Outcomes]) -> tuple[Figure, Axes]:
    """Draw the precision-recall curve of the NIL class; a dot marks the calibrated decision.

    Args:
        runs: name of a run -> its outcomes.
    """
    figure, axes = new_figure()
    for name, outcomes in runs.items():
        draw_nil_curve(axes, outcomes, label=name)
    axes.set(xlabel="recall of NIL (%)", ylabel="precision of NIL (%)", title="NIL (dot = calibrated decision)")
    axes.set(xlim=(0, 100), ylim=(0, 102))
    return figure, axes


def draw_nil_curve(axes: Axes, outcomes: Outcomes, *, label: str, **style: Any) -> Line2D:
    """Draw one precision-recall curve, with a dot at the decision.

    Args:
        axes: where to draw.
        outcomes: with at least one NIL mention.
        label: for the legend.
        style: of the line, for matplotlib.

    Returns:
        The curve.
    """
    precision, recall, _ = precision_recall_curve(outcomes.nil_score, outcomes.is_nil)
    shown = _shown(len(recall))
    line = axes.step(100 * recall[shown], 100 * precision[shown], where="pre", label=label, **style)[0]
    hits = float((outcomes.called_nil & outcomes.is_nil).sum())
    if hits:
        at = (100 * hits / outcomes.is_nil.sum(), 100 * hits / outcomes.called_nil.sum())
        look: Any = {"marker": "o", "color": line.get_color(), "markeredgecolor": "white", "linestyle": ""}
        axes.plot(*at, zorder=3, clip_on=False, **look)
    return line


def reliability_figure(runs: Mapping[str, Outcomes]) -> tuple[Figure, Axes]:
    """Draw the share of NIL mentions over P(NIL); a larger dot means more mentions.

    Args:
        runs: name of a run -> its outcomes; a run whose nil_scores are not
            probabilities has no line.
    """
    figure, axes = new_figure(width=4.6, height=4.4)
    axes.plot([0, 100], [0, 100], color=GREY, linewidth=1, linestyle="--", zorder=0)
    for name, outcomes in runs.items():
        curve = reliability_curve(outcomes.nil_score, outcomes.is_nil)
        if curve is None:
            axes.plot([], [])  # takes the colour of this run
            continue
        probability, share = 100 * curve.probability, 100 * curve.share
        line = axes.plot(probability, share, label=f"{name} (ECE {100 * curve.error:.1f}%)")[0]
        sizes = 12 + 150 * curve.n / curve.n.max()
        axes.scatter(probability, share, s=sizes, color=line.get_color(), alpha=0.8, clip_on=False)
    axes.set(xlabel="P(NIL) (%)", ylabel="of these NIL (%)", title="Reliability", xlim=(0, 100), ylim=(0, 100))
    axes.set_aspect("equal")
    return figure, axes


def risk_figure(runs: Mapping[str, Outcomes]) -> tuple[Figure, Axes]:
    """Draw the share of wrong answers over the share of mentions that are kept, the most certain ones.

    Args:
        runs: name of a run -> its outcomes; a run without P(right) has no line.
    """
    figure, axes = new_figure()
    for accuracy in ACCURACIES:
        axes.axhline(100 - accuracy, color=GREY, linewidth=1, linestyle="--", zorder=0)
    for name, outcomes in runs.items():
        curve = RankedAnswers(outcomes.probability, outcomes.correct).curve()
        shown = _shown(len(curve.coverage))
        label = name if len(shown) else None
        axes.plot(100 * curve.coverage[shown], 100 * (1.0 - curve.accuracy[shown]), label=label)
    axes.set(xlabel="answers kept, the most certain ones (%)", ylabel="of these wrong (%)", title="Risk and coverage")
    axes.set(xlim=(0, 100), ylim=(0, None))
    return figure, axes


def _shown(n: int) -> Numbers:
    """Which points of a curve are drawn; more than 2,000 cannot be seen."""
    return np.unique(np.linspace(0, max(0, n - 1), min(n, 2000)).astype(np.int64))
