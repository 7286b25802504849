"""The config of an alignment: its schema and its parts."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator
from torch import nn

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors
from ...util.config import load_config
from ..settings import BaseDevSettings, BaseTrainingSettings, Strict, explained, resolve_section, seed_of


class AlignPaths(Strict):
    """``[paths]``"""

    kbs: dict[str, Path] = Field(min_length=1, title="Knowledge base folders, each under a name for the log")


class NoiseSettings(Strict):
    """``[pel.noise]``: shares of the first names of pairs that are varied, see ``noisy``."""

    typo: float = Field(default=0.06, ge=0, le=1, title="A letter left out, added or swapped with the next")
    inflection: float = Field(default=0.06, ge=0, le=1, title="Singular for plural, and the reverse")
    initials: float = Field(default=0.03, ge=0, le=1, title="The initials of three words or more")
    inversion: float = Field(default=0.05, ge=0, le=1, title="'Neoplasms, Lung' as 'Lung Neoplasms'")
    hyphen: float = Field(default=0.05, ge=0, le=1, title="Blanks for hyphens")

    @model_validator(mode="after")
    def _one_change_each(self) -> "NoiseSettings":
        total = sum(self.model_dump().values())
        if total > 1 + 1e-9:
            raise ValueError(f"expected shares that add up to 1 at most, got {total:g}")
        return self


class AlignDevSettings(BaseDevSettings):
    """``[pel.training.dev]``: what is measured to choose model-best."""

    n_mentions: int = Field(default=200, ge=1, title="Names of each knowledge base to hold out")
    n_entities: int = Field(default=2000, ge=0, title="Other entities of each to choose from")
    recall_at: list[int] = Field(default=[1, 64], min_length=1, title="The k of recall@k")
    metric: str = Field(default="recall@1", title="Metric that selects the best model")


class AlignTrainingSettings(BaseTrainingSettings):
    """``[pel.training]``"""

    batch_size: int = Field(default=128, ge=2, title="Pairs of names in one step")
    max_epochs: int = Field(default=2, ge=1, title="Passes over as many pairs as there are entities")
    limit: Literal[0] = Field(default=0, title="Not used: all names are read")
    dev: AlignDevSettings = AlignDevSettings()


class AlignSettings(Strict):
    """``[pel]``: the parts and the training."""

    encoder: BiEncoder
    loss: nn.Module
    marked: float = Field(
        default=0.5, ge=0, le=1, title="Share of the first names of pairs read as mentions without context"
    )
    noise: NoiseSettings = NoiseSettings()
    training: AlignTrainingSettings = AlignTrainingSettings()


class AlignRunSettings(BaseModel):
    """The sections of a config that an alignment reads."""

    paths: AlignPaths
    seed: int
    pel: AlignSettings


def read_align_settings(path: Path, overrides: dict[str, Any] | None = None) -> AlignRunSettings:
    """Read, validate and resolve the config of an alignment.

    Args:
        path: a .cfg file in spaCy's format with a [pel] section.
        overrides: dotted names to values, e.g. {"pel.training.max_steps": 100}.

    Returns:
        With the parts built.

    Raises:
        PelError: names every unknown or ill-typed key.
    """
    config = load_config(path, overrides or {})
    with explained(Errors.E349, path):
        pel = resolve_section(config, "pel", Errors.E349, path)
        paths = AlignPaths(**config.get("paths", {}))
        return AlignRunSettings(paths=paths, seed=seed_of(config), pel=AlignSettings(**pel))
