"""The ``[pel]`` section of a config: its schema and its parts."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator
from thinc.api import Config
from torch import nn

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors
from ...util.config import MANY, load_config
from ..negatives import Mixing, NegativeSampler
from ..regularizers import Regularizer
from ..settings import BaseDevSettings, BasePaths, BaseTrainingSettings, Strict, resolve_run


class PathSettings(BasePaths):
    """``[paths]``"""

    kb: Path | None = Field(default=None, title="Knowledge base folder")
    negatives: Path | None = Field(default=None, title="Hard negatives from 'spacy-pel mine'")
    cache: Path | None = Field(default=None, title="Folder of tokenised examples; default: OUTPUT/cache")


class ViewSettings(Strict):
    """``[pel.positives]``: which text represents the right entity of an example."""

    card: float = Field(default=1.0, ge=0, le=1, title="Share of entity cards")
    name: float = Field(default=0.0, ge=0, le=1, title="Share of single names, drawn from the entity's names")
    mention: float = Field(default=0.0, ge=0, le=1, title="Share of other training mentions of the entity")
    alias_share: float = Field(default=0.0, ge=0, lt=1, title="Share of examples that are names without context")

    @model_validator(mode="after")
    def _shares_are_whole(self) -> "ViewSettings":
        total = self.card + self.name + self.mention
        if abs(total - 1) > 1e-6:
            raise ValueError(f"Expected card + name + mention = 1, got {total:.4g}")
        return self


class DevSettings(BaseDevSettings):
    """``[pel.training.dev]``: what is measured to choose model-best."""

    n_entities: int = Field(default=10000, ge=0, title="Other entities in addition to the gold ones; 0 = the whole KB")
    recall_at: list[Annotated[int, Field(ge=1, le=10_000)]] = Field(
        default=[1, 5, 64], min_length=1, title="The k of recall@k"
    )
    kinds: list[Literal["card", "alias"]] = Field(default=["card", "alias"], min_length=1, title="Rows of an entity")
    metric: str = Field(default="recall@1", title="Metric that selects the best model")

    @model_validator(mode="after")
    def _metric_is_measured(self) -> "DevSettings":
        known = [*(f"recall@{k}" for k in self.recall_at), "mrr"]
        if self.metric not in known:
            raise ValueError(f"Expected metric to be one of {', '.join(known)}, got '{self.metric}'")
        return self


class MiningSettings(Strict):
    """``[pel.training.mining]``: when hard negatives are mined, for samplers that need them. The first mining is
    before step 0."""

    every_epochs: int = Field(default=1, ge=0, title="Epochs between two minings; 0 = mine only once")


class TrainingSettings(BaseTrainingSettings):
    """``[pel.training]``"""

    batch_size: int = Field(default=32, ge=1, le=MANY, title="Mentions in one step")
    max_epochs: int = Field(default=7, ge=1, title="Passes over the training mentions")
    dev: DevSettings = DevSettings()
    mining: MiningSettings = MiningSettings()


class PelSettings(Strict):
    """``[pel]``: the parts and the training."""

    encoder: BiEncoder
    loss: nn.Module
    negatives: NegativeSampler
    regularizer: Regularizer | None = None
    mixing: Mixing | None = None
    positives: ViewSettings = ViewSettings()
    training: TrainingSettings = TrainingSettings()

    @model_validator(mode="after")
    def _parts_fit(self) -> "PelSettings":
        if self.mixing is not None and self.regularizer is not None:
            raise ValueError("Expected [pel.mixing] or [pel.regularizer], got both; set one of the sections to null")
        return self


class RunSettings(BaseModel):
    """The sections of a config that training reads; the others are spaCy's."""

    paths: PathSettings
    seed: int = Field(ge=0)
    pel: PelSettings


def read_settings(path: Path, overrides: dict[str, Any] | None = None) -> RunSettings:
    """Read, validate and resolve a training config.

    Args:
        path: a .cfg file in spaCy's format with a [pel] section.
        overrides: dotted names to values, e.g. {"pel.training.max_epochs": 1}.

    Returns:
        With the parts built.

    Raises:
        PelError: names every unknown or ill-typed key.
    """
    return resolve_settings(load_config(path, overrides or {}), path)


def resolve_settings(config: Config, path: Path) -> RunSettings:
    """Build the parts of a config and check its keys."""
    return resolve_run(RunSettings, "pel", config, Errors.E310, path)
