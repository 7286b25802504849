"""The logs of a training: metrics.jsonl and steps.jsonl, and the progress bar."""

import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..util import atomic_path, logger

_STEP_KEYS = ("loss", "grad_norm", "learn_rate")


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
        show: show the progress bar.
    """

    def __init__(self, output: Path, *, resume_at: int, total: int, metric: str, show: bool):
        from tqdm import tqdm

        self.metrics_path, self.steps_path = output / "metrics.jsonl", output / "steps.jsonl"
        self.metric = metric
        self.records = _read_until(self.metrics_path, resume_at)
        # the time of a run excludes steps lost by an interruption
        self._began = time.perf_counter() - (self.records[-1].get("seconds", 0.0) if self.records else 0.0)
        self._window: list[dict[str, float]] = []
        _write(self.metrics_path, self.records)
        _write(self.steps_path, _read_until(self.steps_path, resume_at))
        start = self.records[-1]["step"] if self.records else 0
        interval = 0.5 if sys.stderr.isatty() else 15.0
        self._bar = tqdm(
            total=total, initial=start, desc="Training", disable=not show, mininterval=interval, unit="step"
        )

    def best(self) -> dict[str, Any]:
        """The record with the highest metric so far, the earlier on a tie. Step 0 does not count: it has no model."""
        trained = [record for record in self.records if record["step"]]
        return max(trained, key=lambda record: (record[self.metric], -record["step"]), default={})

    def add_step(self, step: int, metrics: dict[str, float], rate: float) -> None:
        """Log an update. Values that are not finite become null in steps.jsonl, since JSON has no others."""
        self._window.append(metrics)
        self._bar.set_postfix(loss=f"{metrics['loss']:.3f}", examples_per_second=f"{rate:.0f}", refresh=False)
        self._bar.update()
        finite = {key: metrics[key] if math.isfinite(metrics[key]) else None for key in _STEP_KEYS}
        with self.steps_path.open("a", encoding="utf8") as file:
            file.write(json.dumps({"step": step, **finite}) + "\n")

    def add_evaluation(
        self, step: int, epoch: int, scores: dict[str, float], rate: float | None = None
    ) -> dict[str, Any]:
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
        _write(self.metrics_path, self.records)
        logger.info("%s", ", ".join(f"{key} {_short(value)}" for key, value in record.items()))
        return record

    def close(self) -> None:
        self._bar.close()


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


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    with atomic_path(path) as part:
        part.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf8")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def score_metrics(positives: Tensor, scores: Tensor, wrong: Tensor) -> dict[str, float]:
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
