"""The charts of a report: recall@k, NIL precision and recall, reliability of P(NIL)."""

from typing import List, Mapping

import numpy as np

from ..metrics.nil_metrics import precision_recall_curve
from ..metrics.outcomes import Outcomes
from ..metrics.reliability import reliability_curve
from ..run_folder import Run
from .svg_chart import Axis, Chart, Line, line_chart, percent_axis

_POINTS = 300  # of a curve; more cannot be seen


def charts(runs: Mapping[str, Run]) -> List[Chart]:
    """RETURNS (List[Chart]): those that there are data for; the n-th line is the n-th run's in each.

    runs (Mapping[str, Run]): name -> run.
    """
    found = [_recall(runs)]
    if any(run.outcomes.is_nil.any() for run in runs.values()):
        found.append(_nil(runs))
        if any(_reliability_line("", run.outcomes).points for run in runs.values()):
            found.append(_reliability(runs))
    return found


def _recall(runs: Mapping[str, Run]) -> Chart:
    lines, values = [], []
    for name, run in runs.items():
        keys = [key for key in run.metrics if key.startswith("recall@") and key[7:].isdigit()]
        ks = sorted(int(key[7:]) for key in keys)
        points = [(float(k), 100 * run.metrics[f"recall@{k}"]) for k in ks]
        low: List[float] = []
        high: List[float] = []
        if all(run.metrics.get(f"recall@{k}_low") is not None for k in ks):
            low, high = ([100 * run.metrics[f"recall@{k}_{end}"] for k in ks] for end in ("low", "high"))
        lines.append(Line(name, points, low, high, dots=points))
        values += [*(value for _, value in points), *low, *high]
    last = max((point[0] for line in lines for point in line.points), default=1.0)
    ticks = [k for k in (1, 2, 4, 8, 16, 32, 64) if k < last] + [last]
    title = "Candidates: recall@k of the mentions in the KB (%)"
    return line_chart(title, lines, x=Axis("k", ticks, log=True), y=percent_axis("recall@k", values))


def _nil(runs: Mapping[str, Run]) -> Chart:
    lines = []
    for name, run in runs.items():
        precision, recall, _ = precision_recall_curve(run.outcomes.nil_score, run.outcomes.is_nil)
        shown = np.unique(np.searchsorted(recall, np.linspace(0.0, recall[-1], _POINTS)))
        points = [(100 * float(recall[i]), 100 * float(precision[i])) for i in shown]
        hits = float((run.outcomes.called_nil & run.outcomes.is_nil).sum())
        dots = []
        if hits:
            at = (hits / run.outcomes.is_nil.sum(), hits / run.outcomes.called_nil.sum())
            dots.append((100 * float(at[0]), 100 * float(at[1])))
        lines.append(Line(name, points, dots=dots))
    title = "NIL: precision over recall (%), a dot = the decision"
    x, y = (percent_axis(f"{name} of NIL", [], whole=True) for name in ("recall", "precision"))
    return line_chart(title, lines, x=x, y=y)


def _reliability(runs: Mapping[str, Run]) -> Chart:
    lines = [_reliability_line(name, run.outcomes) for name, run in runs.items()]
    title = "Reliability: share of NIL over NIL score (%)"
    x, y = (percent_axis(name, [], whole=True) for name in ("NIL score", "share that is NIL"))
    return line_chart(title, lines, x=x, y=y, diagonal=True)


def _reliability_line(name: str, outcomes: Outcomes) -> Line:
    curve = reliability_curve(outcomes.nil_score, outcomes.is_nil)
    if curve is None:
        return Line(name, [])
    points = [
        (100 * float(p), 100 * float(share)) for p, share in zip(curve.probability, curve.share, strict=True)
    ]
    return Line(name, points, dots=points)
