"""steps.jsonl: one short line per update, for plots of the gradient norm (Wiatrak et al. 2022, Fig. 3)."""

import json
import math
from pathlib import Path

from ..util import atomic_path

_KEYS = ("loss", "grad_norm", "learn_rate")
_BUFFER = 100  # lines


class StepLog:
    """Appends one JSON line per update: "step", "loss", "grad_norm" (before clipping), "learn_rate".

    Lines are buffered: call ``flush`` before each checkpoint. On resuming, lines after the checkpoint
    are dropped.

    Args:
        path: steps.jsonl.
        resume_at: the checkpoint's step; 0 = a new training.
    """

    def __init__(self, path: Path, *, resume_at: int = 0):
        self.path = path
        self._pending: list[str] = []
        kept = list(_until(path, resume_at)) if path.is_file() else []
        with atomic_path(path) as part:
            part.write_text("".join(kept), encoding="utf8")

    def add(self, step: int, metrics: dict[str, float]) -> None:
        """Log an update. Values that are not finite become null, since JSON has no others."""
        finite = {key: metrics[key] if math.isfinite(metrics[key]) else None for key in _KEYS}
        self._pending.append(json.dumps({"step": step, **finite}) + "\n")
        if len(self._pending) >= _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write the buffered lines."""
        with self.path.open("a", encoding="utf8") as file:
            file.write("".join(self._pending))
        self._pending.clear()


def _until(path: Path, last: int) -> list[str]:
    """The lines up to a step; a line truncated by an interruption ends them."""
    kept = []
    with path.open(encoding="utf8") as file:
        for line in file:
            try:
                step = json.loads(line)["step"]
            except (ValueError, KeyError, TypeError):
                break
            if step > last:
                break
            kept.append(line)
    return kept
