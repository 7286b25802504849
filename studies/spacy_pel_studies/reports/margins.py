"""Runs with several margins of the loss side by side: rows of the paper's Table 4, curves of its Fig. 2."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spacy_pel.errors import PelError
from spacy_pel.evaluation.figures import COLORS, draw_nil_curve, new_figure, save_figure
from spacy_pel.evaluation.metrics.all_metrics import nil_metrics
from spacy_pel.evaluation.outcomes import Run

from ..errors import StudyErrors

COLUMNS = ("nil_aupr", "nil_precision", "nil_recall", "recall_all@1", "recall_all@64")
# Wiatrak et al. 2022, Table 4: MedMentions with out-of-KB mentions; the columns are those above
PAPER: dict[str, tuple[float, ...]] = {
    "Pb 0": (83.7, 81.2, 71.0, 72.6, 90.4),
    "Pb 0.01": (84.4, 81.6, 71.5, 72.5, 90.2),
    "Pb 0.05": (85.8, 83.3, 73.5, 72.4, 89.9),
    "Pb 0.1": (87.6, 85.2, 79.2, 69.4, 85.7),
    "CE": (32.3, 31.8, 74.0, 64.4, 76.1),
}


def paper_results(label: str) -> dict[str, float] | None:
    """The paper's results for a run, by its label.

    Args:
        label: e.g. "Pb 0.05", "Pb δ=.05" or "CE mixed".

    Returns:
        By the names of ``COLUMNS``, shares between 0 and 1; None
        if the paper has no such run.
    """
    words = re.findall(r"[^\W\d_]+", label.casefold())
    numbers = [float(found) for found in re.findall(r"\d*\.?\d+", label)]
    loss = next((word for word in words if word in ("pb", "ce")), "")
    key = "CE" if loss == "ce" else f"Pb {numbers[0]:g}" if loss == "pb" and numbers else ""
    if key not in PAPER:
        return None
    return {name: value / 100 for name, value in zip(COLUMNS, PAPER[key], strict=True)}


def margin_rows(runs: Mapping[str, Run]) -> list[dict[str, Any]]:
    """Metrics of NIL and of recall over all classes, for each run.

    Args:
        runs: label -> evaluation, all of the same mentions.

    Returns:
        "run", the metrics of ``nil_metrics``, the interval of
        "nil_aupr", "threshold", "n", "n_nil", and "paper": its results or None.

    Raises:
        PelError: if the runs have different mentions, no NIL mentions or too few candidates.
    """
    _check_same(runs)
    rows = []
    for label, run in runs.items():
        if run.metrics.get("top_k", 64) < 64:
            raise PelError(StudyErrors.E618.format(path=run.path, top_k=run.metrics["top_k"]))
        interval = {key: run.metrics.get(key) for key in ("nil_aupr_low", "nil_aupr_high", "threshold")}
        counts = {"n": len(run.outcomes.rank), "n_nil": int(run.outcomes.is_nil.sum())}
        metrics = {**nil_metrics(run.outcomes), **interval, **counts}
        rows.append({"run": label, **metrics, "paper": paper_results(label)})
    return rows


def _check_same(runs: Mapping[str, Run]) -> None:
    (first_label, first), *others = runs.items()
    if not first.outcomes.is_nil.any():
        raise PelError(StudyErrors.E617.format(path=first.path))
    for label, run in others:
        same = run.mentions == first.mentions and np.array_equal(run.outcomes.is_nil, first.outcomes.is_nil)
        if not same:
            raise PelError(
                StudyErrors.E662.format(
                    a=first_label,
                    b=label,
                    n_a=len(first.mentions),
                    n_b=len(run.mentions),
                    nil_a=int(first.outcomes.is_nil.sum()),
                    nil_b=int(run.outcomes.is_nil.sum()),
                )
            )


def plot_margins(runs: Mapping[str, Run], rows: list[dict[str, Any]], *paths: Path) -> None:
    """Draw the precision-recall curves of NIL, one line per run; a dot is the calibrated decision.

    Args:
        runs: label -> evaluation.
        rows: from ``margin_rows``.
        paths: files to write, .png or .svg.
    """
    figure, axes = new_figure(width=8.2, height=4.6)
    lines, names = [], []
    for place, (label, run) in enumerate(runs.items()):
        names.append(f"{label}  (auPR {100 * rows[place]['nil_aupr']:.1f})")
        # beyond the number of colours, the line style distinguishes runs
        style = {"color": COLORS[place % len(COLORS)], "linestyle": ("-", "--", ":")[place // len(COLORS) % 3]}
        lines.append(draw_nil_curve(axes, run.outcomes, label="_run", linewidth=1.8, **style))
    share = rows[0]["n_nil"] / rows[0]["n"]
    lines.append(axes.axhline(100 * share, color="#999999", linewidth=1, linestyle=(0, (2, 2))))
    # outside the axes, since the curves leave no room inside
    figure.legend(lines, [*names, f"chance  ({100 * share:.1f})"], loc="outside right upper", frameon=False)
    axes.set(
        xlabel="recall of NIL (%)",
        ylabel="precision of NIL (%)",
        title="Telling NIL by the margin of the loss",
        xlim=(0, 100),
        ylim=(0, 102),
    )
    save_figure(figure, axes, *paths)
