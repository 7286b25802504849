"""Trains and evaluates the runs of a study; finished runs are not repeated."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from spacy_pel.errors import PelError
from spacy_pel.util import logger, machine_note, read_json, read_jsonl

from ..errors import StudyErrors
from .plan import StudyRun

Facts = dict[str, Any]
EVALUATION = "evaluation"  # folder of a run, in the form of ``evaluate``


class StudyTask(Protocol):
    """What the runs of a study train, and how it is measured."""

    gpu_id: int  # -1 = CPU

    def measured(self, run: StudyRun, output: Path) -> str: ...  # fingerprint of what the metrics depend on

    def trainer(self, run: StudyRun, output: Path) -> Any: ...

    def evaluate(self, run: StudyRun, output: Path, trainer: Any, facts: Facts) -> Facts: ...

    # of what needs no training; measured: fingerprint of each run, by name
    def untrained(self, runs: Sequence[StudyRun], output: Path, measured: Mapping[str, str]) -> list[Facts]: ...


def run_study(task: StudyTask, runs: Sequence[StudyRun], output: Path) -> list[Facts]:
    """Train and evaluate all runs of a study; an interrupted study resumes exactly. If the
    test mentions or the knowledge base have changed, trained models are only evaluated again.

    Args:
        task: trains and measures.
        runs: from ``plan_study``.
        output: gets a folder for each run: the files of the training, and "evaluation" with metrics.json
            and predictions.jsonl of the test corpus.

    Returns:
        metrics.json of what is measured without training, and of each run, with "label",
        "levels", "seed" and, for runs, "train_seconds" (of the updates and their evaluations).

    Raises:
        PelError: before any training, if a run cannot be set up, or the output holds one with other
            settings.
    """
    measured, done = check_runs(task, runs, output)
    results = task.untrained(runs, output, measured)
    for number, run in enumerate(runs, start=1):
        if not done[run.name]:
            logger.info("Run %d of %d: %s, seed %d", number, len(runs), run.label, run.seed)
            trainer = task.trainer(run, output)
            trainer.run(resume=trainer.checkpoint.exists())
            last = list(read_jsonl(output / run.name / "metrics.jsonl"))[-1]
            facts: Facts = {
                "label": run.label,
                "levels": run.levels,
                "seed": run.seed,
                "train_seconds": last.get("seconds", 0.0),  # of an interrupted training, too
                "machine": machine_note(f"cuda:{task.gpu_id}" if task.gpu_id >= 0 else None),
                "study_fingerprint": run.fingerprint,
                "config": run.config,
                "measured_fingerprint": measured[run.name],
            }
            done[run.name] = task.evaluate(run, output, trainer, facts)
        results.append(done[run.name])
    return results


def check_runs(task: StudyTask, runs: Sequence[StudyRun], output: Path) -> tuple[dict[str, str], dict[str, Facts]]:
    """Set up every run without training: an invalid setting of the last one is found before the first one starts.

    Args:
        task, runs, output: as for ``run_study``.

    Returns:
        By the name of the run: fingerprint of what its metrics depend on, and the metrics of finished runs.

    Raises:
        PelError: if a run cannot be set up, or the output holds one with other settings.
    """
    measured: dict[str, str] = {}
    done: dict[str, Facts] = {}
    for run in runs:
        with _named(run):
            measured[run.name] = task.measured(run, output)
        done[run.name] = finished(output / run.name, run.fingerprint, measured[run.name])
    for run in runs:
        if not done[run.name]:
            with _named(run):
                task.trainer(run, output)
    return measured, done


def read_metrics(folder: Path) -> Facts:
    """metrics.json of a run's folder; empty = the run was not measured yet."""
    path = folder / EVALUATION / "metrics.json"
    return dict(read_json(path)) if path.is_file() else {}


@contextmanager
def _named(run: StudyRun) -> Iterator[None]:
    """Raises:
    PelError: the same, with the name of the run.
    """
    try:
        yield
    except PelError as err:
        raise PelError(StudyErrors.E696.format(run=run.label, got=err)) from err


def finished(folder: Path, settings: str | None, measured: str) -> Facts:
    """The metrics of an earlier execution of the study.

    Args:
        folder: of the run.
        settings: fingerprint of the run's settings now; None = nothing is trained there.
        measured: fingerprint of what is measured now.

    Returns:
        Its metrics.json; empty = there is none, or it is of other mentions.

    Raises:
        PelError: if the folder holds a run with other settings.
    """
    metrics = read_metrics(folder)
    if metrics and settings is not None and metrics.get("study_fingerprint") != settings:
        raise PelError(StudyErrors.E678.format(path=folder))
    return metrics if metrics.get("measured_fingerprint") == measured else {}
