"""Gradient norms of trainings, step by step (Wiatrak et al. 2022, Appendix E and Fig. 3)."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_pel.errors import PelError
from spacy_pel.evaluation.figures import new_figure, save_figure
from spacy_pel.util import read_jsonl

from ..errors import StudyErrors

Floats = NDArray[np.float64]


class GradientNorms(NamedTuple):
    """A training.

    Attributes:
        steps: (n,), rising.
        norms: (n,), the l2 norm of the gradient before clipping; NaN where it was not finite.
    """

    steps: NDArray[np.int64]
    norms: Floats


class NormSummary(NamedTuple):
    """A line of the table.

    Attributes:
        n: steps.
        n_not_finite: steps that mixed precision skipped; they are not part of the other values.
        mean, std, max: of the norms, not smoothed; None if none is finite.
    """

    n: int
    n_not_finite: int
    mean: float | None
    std: float | None
    max: float | None


def read_norms(path: Path) -> GradientNorms:
    """Read the norms of a training.

    Args:
        path: its folder, or the steps.jsonl in it.

    Raises:
        PelError: if there are none.
    """
    file = path / "steps.jsonl" if path.is_dir() else path
    if not file.is_file():
        raise PelError(StudyErrors.E619.format(path=file, got="there is no such file"))
    by_step: dict[int, float] = {}
    for record in read_jsonl(file):
        try:
            norm = record["grad_norm"]
            by_step[int(record["step"])] = float("nan") if norm is None else float(norm)
        except (KeyError, TypeError, ValueError) as err:
            raise PelError(StudyErrors.E619.format(path=file, got=f"got {str(record)[:80]} ({err})")) from err
    if not by_step:
        raise PelError(StudyErrors.E619.format(path=file, got="the file is empty"))
    steps = sorted(by_step)  # a step that was repeated after an interruption counts once
    norms = np.asarray([by_step[step] for step in steps])
    return GradientNorms(np.asarray(steps, dtype=np.int64), np.where(np.isfinite(norms), norms, np.nan))


def smoothed(values: Floats, window: int) -> Floats:
    """Centred moving average. At both ends, and next to NaN values, it is over the available values.

    Args:
        values: (n,).
        window: number of values averaged; an even number takes one more before than after.

    Returns:
        (n,), NaN where the window holds nothing.
    """
    there = np.isfinite(values)
    sums = np.append(0.0, np.cumsum(np.where(there, values, 0.0)))
    counts = np.append(0, np.cumsum(there))
    place = np.arange(len(values))
    low = np.maximum(0, place - window // 2)
    high = np.minimum(len(values), place + (window - 1) // 2 + 1)
    n = counts[high] - counts[low]
    return np.where(n > 0, (sums[high] - sums[low]) / np.maximum(n, 1), np.nan)


def summary(norms: Floats) -> NormSummary:
    """Mean, standard deviation (of these steps, not of a sample) and maximum."""
    finite = norms[np.isfinite(norms)]
    if not len(finite):
        return NormSummary(len(norms), len(norms), None, None, None)
    moments = (float(finite.mean()), float(finite.std()), float(finite.max()))
    return NormSummary(len(norms), len(norms) - len(finite), *moments)


def plot_norms(runs: Mapping[str, GradientNorms], paths: list[Path], *, window: int) -> None:
    """Draw the smoothed norms, one line per run.

    Args:
        runs: name -> its norms.
        paths: files to write, .png or .svg.
        window: of the moving average.
    """
    figure, axes = new_figure()
    for name, run in runs.items():
        axes.plot(run.steps, smoothed(run.norms, window), label=name, linewidth=1.2)
    title = f"Gradient norm, mean of {window} steps" if window > 1 else "Gradient norm"
    axes.set(xlabel="step", ylabel="l2 norm of the gradient", title=title)
    axes.set_ylim(bottom=0)
    save_figure(figure, axes, *paths)
