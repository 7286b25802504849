"""Checkpoints as tensors and JSON, without pickle: an interrupted run resumes exactly."""

from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from ..errors import Errors, PelError
from ..util import atomic_path, read_json, write_json


@dataclass
class Progress:
    """Progress of a training. Batches and draws follow from the seed and these numbers.

    step: completed updates.
    epoch, batch: the next batch to train on.
    best, stale: best metric so far; evaluations since then.
    mined: number of minings so far.
    fingerprint: of the config and data; another run's checkpoint is refused.
    """

    fingerprint: str
    step: int = 0
    epoch: int = 0
    batch: int = 0
    best: float | None = None
    stale: int = 0
    mined: int = 0


def save_checkpoint(path: Path, objective: Any, optimizer: Any, state: Progress) -> None:
    """Write weights, optimizer moments and progress to a folder, atomically."""
    with atomic_path(path) as part:
        part.mkdir()
        weights = {name: tensor.detach().cpu().clone() for name, tensor in objective.state_dict().items()}
        save_file(weights, str(part / "objective.safetensors"))
        moments = {
            f"{number}.{key}": moment.detach().cpu().clone()
            for number, moments_of in optimizer.state_dict()["state"].items()
            for key, moment in moments_of.items()
        }
        save_file(moments, str(part / "optimizer.safetensors"))
        write_json(part / "progress.json", asdict(state))


def read_progress(path: Path, fingerprint: str) -> Progress:
    """Where to resume.

    Raises:
        PelError: if the checkpoint is damaged or belongs to another config or other data.
    """
    try:
        state = Progress(**read_json(path / "progress.json"))
    except TypeError as err:
        raise PelError(Errors.E304.format(path=path, got=f"its progress.json has other keys: {err}")) from err
    if state.fingerprint != fingerprint:
        raise PelError(Errors.E312.format(path=path))
    return state


def load_checkpoint(path: Path, objective: Any, optimizer: Any, fingerprint: str) -> Progress:
    """Fill weights and optimizer from a folder.

    Returns:
        Where to resume.

    Raises:
        PelError: as ``read_progress``.
    """
    state = read_progress(path, fingerprint)
    try:
        weights = load_file(str(path / "objective.safetensors"))
        moments = load_file(str(path / "optimizer.safetensors"))
    except Exception as err:  # safetensors raises its own type
        raise PelError(Errors.E304.format(path=path, got=str(err))) from err
    objective.load_state_dict(weights, strict=False)
    state_of: dict[int, dict[str, Any]] = defaultdict(dict)
    for name, moment in moments.items():
        number, key = name.split(".")
        state_of[int(number)][key] = moment
    optimizer.load_state_dict({"state": state_of, "param_groups": optimizer.state_dict()["param_groups"]})
    return state


def describe(part: Any) -> str:
    """A part's type and settings, for the fingerprint of a run."""
    named = {key: value for key, value in vars(part).items() if key[0] != "_"}
    settings = {key: value for key, value in named.items() if isinstance(value, (int, float, str))}
    return type(part).__name__ + repr(sorted(settings.items()))
