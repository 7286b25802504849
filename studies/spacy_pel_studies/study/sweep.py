"""The runs of a study that differ only in one numeric setting."""

import copy
import inspect
from pathlib import Path
from typing import Any

from spacy_pel.errors import PelError
from spacy_pel.registry import registry
from spacy_pel.util import fingerprint

from ..errors import StudyErrors
from ..reports.sweep import SweepPoint, sweep_points
from .plan import StudyRun, Tree, at, plan_study
from .run import EVALUATION, read_metrics


def sweep_lines(config: Path, folder: Path, setting: str) -> dict[str, list[SweepPoint]]:
    """Find the finished runs that differ in a setting.

    Args:
        config: of the study.
        folder: where it was run.
        setting: e.g. "pel.mixing.alpha"; where a registered part does not name it, its default counts.

    Returns:
        A line for each set of runs that differ only in the setting and the
        seed, named by the run of the study's matrix in it.

    Raises:
        PelError: if no two runs differ in it, or they are not finished.
    """
    _, runs = plan_study(config)
    alike: dict[str, list[tuple[float, StudyRun]]] = {}
    metrics = {run.name: read_metrics(folder / run.name) for run in runs}
    for run in runs:
        # a setting may have been overridden on the command line: what was trained counts, not the file
        value, rest = _apart(metrics[run.name].get("config", run.config), setting.split("."))
        if value is not None:
            alike.setdefault(fingerprint(repr(rest)), []).append((value, run))
    swept = [group for group in alike.values() if len({value for value, _ in group}) > 1]
    if not swept:
        found = (_numbers(run.config.get(name, {}), f"{name}.") for run in runs for name in ("pel", "ranker"))
        known = sorted({name for names in found for name in names})
        raise PelError(StudyErrors.E679.format(setting=setting, path=config, known=", ".join(known)))
    lines: dict[str, list[SweepPoint]] = {}
    for group in swept:
        done = [(value, folder / run.name / EVALUATION, metrics[run.name]) for value, run in group if metrics[run.name]]
        if len({value for value, _, _ in done}) > 1:
            names = [run.label for _, run in group if run.levels] or [group[0][1].label]
            lines[names[0]] = sweep_points(done)
    if not lines:
        raise PelError(StudyErrors.E693.format(path=config, folder=folder, setting=setting))
    return lines


def _apart(config: Tree, keys: list[str]) -> tuple[float | None, Tree]:
    """The number at the setting, None if there is none; and the config without it
    and without the seed."""
    rest = copy.deepcopy(config)
    rest.get("system", {}).pop("seed", None)
    section = at(rest, keys[:-1])
    if not isinstance(section, dict):
        return None, rest
    value = section.pop(keys[-1], None)
    if value is None:
        value = _default(section, keys[-1])
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return (float(value) if is_number else None), _sorted(rest)


def _default(section: Tree, name: str) -> Any:
    for key, part in section.items():
        if key.startswith("@pel_") and hasattr(registry, key[1:]):
            builder = getattr(registry, key[1:]).get(part)
            known = inspect.signature(builder).parameters
            return known[name].default if name in known else None
    return None


def _sorted(tree: Any) -> Any:
    return {key: _sorted(tree[key]) for key in sorted(tree)} if isinstance(tree, dict) else tree


def _numbers(tree: Tree, prefix: str) -> list[str]:
    names = []
    for key, value in tree.items():
        if isinstance(value, dict):
            names += _numbers(value, f"{prefix}{key}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            names.append(f"{prefix}{key}")
    return names
