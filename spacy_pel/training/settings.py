"""What all training configs have in common: base classes, the optimizer, reading and errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from catalogue import RegistryError
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from spacy.util import registry as spacy_registry
from thinc.api import ConfigValidationError

from ..errors import Errors, PelError, did_you_mean
from ..util.config import MANY, describe_config_error

Precision = Literal["auto", "no", "bf16"]
Run = TypeVar("Run", bound=BaseModel)
_EVALUATIONS = 5  # of a training at least, besides that before the first update


class Strict(BaseModel):
    """A section without unknown keys."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _are_known(cls, values: Any) -> Any:
        """Say what an unknown key may stand for."""
        unknown = [key for key in values if key not in cls.model_fields] if isinstance(values, dict) else []
        if unknown:
            raise ValueError(", ".join(f"unknown key {key}{did_you_mean(key, cls.model_fields)}" for key in unknown))
        return values


class BasePaths(Strict):
    """``[paths]``: what every training reads. A config may leave paths out."""

    train: Path | None = Field(default=None, title="Training corpus (JSON lines)")
    dev: Path | None = Field(default=None, title="Development corpus (JSON lines)")

    def required(self, name: str) -> Path:
        """The path of this name. RAISES (PelError): if it is not set."""
        path: Path | None = getattr(self, name)
        if path is None:
            raise PelError(Errors.E313.format(name=name))
        return path


class OptimizerSettings(Strict):
    """``[pel.training.optimizer]``: AdamW, linear warm-up, linear decay to zero."""

    learn_rate: float = Field(default=1e-5, gt=0, le=1, title="Peak learning rate of the towers")
    proxy_learn_rate: float = Field(default=1e-3, gt=0, le=1, title="Peak learning rate of the loss's own parameters")
    warmup: float = Field(default=0.25, ge=0, le=1, title="Share of the steps that warm up")
    weight_decay: float = Field(default=0.01, ge=0, le=1, title="Decoupled weight decay")
    epsilon: float = Field(default=1e-6, gt=0, le=1, title="AdamW's epsilon")
    clip: float = Field(default=1.0, gt=0, title="Largest l2 norm of the gradient")


class BaseDevSettings(Strict):
    """``[….training.dev]``: what is measured to choose model-best."""

    n_mentions: int = Field(default=2000, ge=0, title="Mentions of the dev corpus, drawn once; 0 = all")
    metric: str = Field(title="Metric that selects the best model")


class BaseTrainingSettings(Strict):
    """``[….training]``: how long, how fast, how often. These keys are part of a run's fingerprint."""

    batch_size: int = Field(ge=1, le=MANY, title="Mentions in one step")
    max_epochs: int = Field(ge=1, title="Passes over the training mentions")
    max_steps: int = Field(default=0, ge=0, title="Stop after this many steps; 0 = by epochs")
    eval_frequency: int = Field(default=500, ge=1, title="Steps between evaluations; fewer in a short training")
    patience: int = Field(default=0, ge=0, title="Stop after this many evaluations without improvement; 0 = never")
    accumulate_gradient: int = Field(default=1, ge=1, le=MANY, title="Batches per update")
    mixed_precision: Precision = Field(default="no", title="Autocast type")
    limit: int = Field(default=0, ge=0, title="Maximum number of training mentions; 0 = all")
    optimizer: OptimizerSettings = OptimizerSettings()
    dev: BaseDevSettings

    def n_updates(self, batches_per_epoch: int) -> int:
        """Of the whole training; the schedule of the learning rate ends there."""
        updates = self.max_epochs * max(1, batches_per_epoch // self.accumulate_gradient)
        return min(updates, self.max_steps or updates)

    def evaluate_every(self, total: int) -> int:
        """Steps between evaluations of a training of ``total`` steps: few enough for five of them."""
        return min(self.eval_frequency, max(1, total // _EVALUATIONS))


# These settings only end a training or evaluate it, and may change when it is resumed.
NOT_FINGERPRINTED = {"eval_frequency", "patience", "max_epochs", "max_steps"}


@contextmanager
def explained(text: str, path: Path | str) -> Iterator[None]:
    """Turn what is wrong with a config's keys and parts into one line.

    Args:
        text: of the error, with {path} and {got}.
        path: the config.

    Raises:
        PelError: names every unknown or ill-typed key, or the part that is not registered.
    """
    try:
        yield
    except ValidationError as err:
        problems = [
            f"{'.'.join(map(str, e['loc']))}: {e['msg'].removeprefix('Value error, ')}{_hint(e)}" for e in err.errors()
        ]
        raise PelError(text.format(path=path, got="; ".join(problems).removeprefix(": ").rstrip("."))) from err
    # the others: no part of this name, and a pattern that is too large for re
    except (ConfigValidationError, RegistryError, OverflowError, RecursionError) as err:
        raise PelError(text.format(path=path, got=describe_config_error(err))) from err


def resolve_run(kind: type[Run], section: str, config: Any, text: str, path: Path) -> Run:
    """Build the parts of a config and check its keys.

    Args:
        kind: what is read: ``paths``, ``seed`` and the section.
        section: "pel" or "ranker".
        config: of thinc.
        text: of the error, with {path} and {got}.

    Returns:
        With the parts built.

    Raises:
        PelError: if there is no such section; as ``explained``.
    """
    if section not in config:
        hint = next(filter(None, (did_you_mean(name, [section]) for name in config)), "")
        raise PelError(text.format(path=path, got=f"it has no [{section}] section{hint}"))
    with explained(text, path):
        parts = spacy_registry.resolve({section: config[section]})
        seed = config.get("system", {}).get("seed") or 0
        return kind.model_validate({"paths": config.get("paths", {}), "seed": seed, section: parts[section]})


def _hint(error: Any) -> str:
    """A hint for settings that are given without their part."""
    is_bare = error["type"] == "is_instance_of" and isinstance(error.get("input"), dict)
    return ' (name the part, too: its section has an "@pel_…" line)' if is_bare else ""
