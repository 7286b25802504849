"""metrics.jsonl: one line per evaluation, and the progress bar between evaluations."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..util import atomic_path, logger, read_jsonl


class MetricsLog:
    """Appends one JSON line per evaluation. On resuming, lines after the checkpoint are dropped.

    Args:
        path: metrics.jsonl.
        resume_at: the checkpoint's step; 0 = a new training.
    """

    def __init__(self, path: Path, *, resume_at: int = 0):
        self.path = path
        old = [r for r in read_jsonl(path) if r["step"] <= resume_at] if resume_at and path.exists() else []
        self.records: list[dict[str, Any]] = old
        self._began = time.perf_counter() - (old[-1].get("seconds", 0.0) if old else 0.0)
        self._rewrite()

    def best(self, metric: str) -> dict[str, Any]:
        """The record with the highest metric so far, the earlier on a tie."""
        return max(self.records, key=lambda record: (record[metric], -record["step"]), default={})

    def write(
        self, step: int, epoch: int, metrics: dict[str, float], scores: dict[str, float], rate: float
    ) -> dict[str, Any]:
        """The record written."""
        record = {"step": step, "epoch": epoch, **metrics, **scores, "examples_per_second": rate}
        record["seconds"] = (
            time.perf_counter() - self._began
        )  # includes evaluations, excludes steps lost by an interruption
        self.records.append(record)
        self._rewrite()
        logger.info("%s", ", ".join(f"{key} {_short(value)}" for key, value in record.items()))
        return record

    def window(self, total: int, *, show: bool) -> "Window":
        """Means of the metrics since the last evaluation."""
        return Window(total, self.records[-1]["step"] if self.records else 0, show=show)

    def _rewrite(self) -> None:
        with atomic_path(self.path) as part:
            part.write_text("".join(json.dumps(r) + "\n" for r in self.records), encoding="utf8")


class Window:
    """Collects the metrics of steps and shows progress."""

    def __init__(self, total: int, start: int, *, show: bool):
        from tqdm import tqdm

        self.steps: list[dict[str, float]] = []
        interval = 0.5 if sys.stderr.isatty() else 15.0
        self.bar = tqdm(
            total=total, initial=start, desc="Training", disable=not show, mininterval=interval, unit="step"
        )

    def add(self, step: int, metrics: dict[str, float], rate: float) -> None:
        self.steps.append(metrics)
        self.bar.set_postfix(loss=f"{metrics['loss']:.3f}", examples_per_second=f"{rate:.0f}", refresh=False)
        self.bar.update()

    def mean(self) -> dict[str, float]:
        """Means since the last call; the learning rate is the last one."""
        means = {key: float(np.mean([step[key] for step in self.steps])) for key in self.steps[0]}
        means["learn_rate"] = self.steps[-1]["learn_rate"]
        self.steps.clear()
        return means

    def close(self) -> None:
        self.bar.close()


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
