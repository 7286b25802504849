"""The logs of a training: metrics.jsonl and steps.jsonl, the progress bar and the learning curve."""

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import PelError
from ..util import logger, read_jsonl, write_jsonl
from ..util.console import is_share, percent, progress_bar

Metrics = dict[str, float]
_STEP_KEYS = ("loss", "grad_norm", "learn_rate")
_MEANS = 30  # the line of the loss has this many independent points


class TrainingLog:
    """Writes a line of metrics.jsonl for each evaluation: means since the last one, and scores on dev. That of step 0,
    before any update, has no means. A short line of steps.jsonl for each update: "step", "loss", "grad_norm" (before
    clipping), "learn_rate", for the learning curve and plots of the gradient norm (Wiatrak et al. 2022, Fig. 3).
    On resuming, lines after the checkpoint are dropped.

    Args:
        output: the folder of the training.
        resume_at: the checkpoint's step; 0 = a new training.
        total: number of updates, for the progress bar.
        metric: that selects the best model; the first score of each evaluation, for the learning curve.
    """

    def __init__(self, output: Path, *, resume_at: int, total: int, metric: str):
        self.output = output
        self.metrics_path, self.steps_path = output / "metrics.jsonl", output / "steps.jsonl"
        self.metric = metric
        self.records = _read_until(self.metrics_path, resume_at)
        # the time of a run excludes steps lost by an interruption
        self._began = time.perf_counter() - (self.records[-1].get("seconds", 0.0) if self.records else 0.0)
        self._window: list[Metrics] = []
        write_jsonl(self.metrics_path, self.records)
        write_jsonl(self.steps_path, _read_until(self.steps_path, resume_at))
        start = self.records[-1]["step"] if self.records else 0
        self._bar = progress_bar("Training", total)
        self._bar.initial = self._bar.n = start

    def best(self) -> dict[str, Any]:
        """The record with the highest metric so far, the earlier on a tie. Step 0 does not count: it has no model."""
        trained = [record for record in self.records if record["step"]]
        return max(trained, key=lambda record: (record[self.metric], -record["step"]), default={})

    def add_step(self, step: int, metrics: Metrics, rate: float) -> None:
        """Log an update. Values that are not finite become null in steps.jsonl, since JSON has no others."""
        self._window.append(metrics)
        self._bar.set_postfix(loss=f"{metrics['loss']:.3f}", examples_per_second=f"{rate:.0f}", refresh=False)
        self._bar.update()
        finite = {key: metrics[key] if math.isfinite(metrics[key]) else None for key in _STEP_KEYS}
        with self.steps_path.open("a", encoding="utf8") as file:
            file.write(json.dumps({"step": step, **finite}) + "\n")

    def add_evaluation(self, step: int, epoch: int, scores: Metrics, rate: float | None = None) -> dict[str, Any]:
        """Log an evaluation with the means since the last one; the learning rate is the latest.

        Args:
            scores: on dev.
            rate: examples per second; None before the first update.

        Returns:
            The record written.
        """
        record: dict[str, Any] = {"step": step, "epoch": epoch}
        if self._window:
            record |= {key: float(np.mean([metrics[key] for metrics in self._window])) for key in self._window[0]}
            record["learn_rate"] = self._window[-1]["learn_rate"]
        self._window.clear()
        record |= {self.metric: scores[self.metric], **scores}
        if rate is not None:
            record["examples_per_second"] = rate
        record["seconds"] = time.perf_counter() - self._began  # includes evaluations
        self.records.append(record)
        write_jsonl(self.metrics_path, self.records)
        logger.info("%s", ", ".join(f"{key} {shown(key, value)}" for key, value in record.items()))
        return record

    def close(self) -> None:
        """End the progress bar, and draw learning_curve.png: the metric on dev that selects the best model, and the
        loss, by update."""
        self._bar.close()
        try:
            from ..evaluation.figures import COLORS, new_panels, save_figure
        except PelError as err:  # without matplotlib
            logger.info("No learning curve was drawn. %s", err)
            return
        figure, (scores, losses) = new_panels(2, width=9.6, height=4.0)
        steps, values = np.array([(record["step"], record[self.metric]) for record in self.records]).T
        values = 100 * values if is_share(self.metric) else values
        scores.plot(steps, values, marker="o", markersize=5)
        scores.axhline(values[0], color=COLORS[0], linewidth=0.8, linestyle=(0, (1, 3)), zorder=0)
        scores.annotate(f"untrained {values[0]:.3g}", (steps[-1], values[0]), ha="right", va="bottom")
        best = int(values.argmax())
        scores.annotate(f"{values[best]:.3g}", (steps[best], values[best]), ha="center", va="bottom")
        in_percent = " (%)" if is_share(self.metric) else ""
        scores.set(xlabel="updates", ylabel=f"{self.metric}{in_percent}", title="Learning curve on dev")
        scores.margins(x=0.04, y=0.15)
        updates = [record for record in read_jsonl(self.steps_path) if record["loss"] is not None]
        steps, values = np.array([(record["step"], record["loss"]) for record in updates]).reshape(-1, 2).T
        losses.plot(steps, values, color=COLORS[0], alpha=0.25, linewidth=0.8)
        width = max(1, len(values) // _MEANS)
        smooth = np.convolve(values, np.full(width, 1 / width), mode="valid") if len(values) else values
        losses.plot(steps[width - 1 :] - (width - 1) / 2, smooth, color=COLORS[0], linestyle="-")
        losses.set(xlabel="updates", ylabel="loss", title="Training loss")
        losses.set_ylim(bottom=0)
        save_figure(figure, scores, self.output / "learning_curve.png")


def _read_until(path: Path, last: int) -> list[dict[str, Any]]:
    """The records up to a step; a line truncated by an interruption ends them."""
    records: list[dict[str, Any]] = []
    if not last or not path.is_file():
        return records
    with path.open(encoding="utf8") as file:
        for line in file:
            try:
                record = json.loads(line)
                if record["step"] > last:
                    break
            except (ValueError, KeyError, TypeError):
                break
            records.append(record)
    return records


def shown(name: str, value: Any) -> str:
    """A number of a record as people read it."""
    if isinstance(value, float):
        return percent(value) if is_share(name) else f"{value:.4g}"
    return str(value)


def score_metrics(positives: Tensor, scores: Tensor, wrong: Tensor) -> Metrics:
    """How far the positives are from the hardest negatives.

    Args:
        positives: (n,) scores of the positives, detached.
        scores: (n, m) detached.
        wrong: (n, m) bool, True = a negative.

    Returns:
        "similarity+" and "similarity-" (means over positives and over the hardest
        negatives; 0 if there are none), and "accuracy", the share of positives above all of their negatives.
    """
    hardest, pushes = scores.masked_fill(~wrong, -torch.inf).amax(dim=1), wrong.any(dim=1)
    pushed = float(hardest[pushes].mean()) if pushes.any() else 0.0
    accuracy = float((positives > hardest).float().mean())
    return {"similarity+": float(positives.mean()), "similarity-": pushed, "accuracy": accuracy}
