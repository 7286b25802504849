"""What trains a ranker: the ``[ranker]`` section of a config, and the recipe of a kind of ranker, which is registered
under the ranker's name."""

from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field
from torch import nn

from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...registry import registry
from ...types import RankedRows
from ...util.config import MANY, load_config
from .. import settings as common
from ..regularizers import Regularizer
from .candidates import RankMentions


class RankPaths(common.BasePaths):
    """``[paths]``"""

    pipeline: Path | None = Field(default=None, title="Pipeline that finds the candidates")
    cache: Path | None = Field(default=None, title="Folder of the candidates; default: OUTPUT/candidates")


class CandidateSettings(common.Strict):
    """``[ranker.candidates]``: what is ranked.

    The pipeline's index must not hold the training mentions, or counts of them: then the right candidate of nearly
    every training mention would rank first, and the ranker be trained on candidates unlike those at inference.

    A knowledge base with names from the training text has the surface form of every training mention as
    a name of its entity, but not those of new mentions. ``hide_names`` leaves the surface forms of a
    share of the training mentions out of their candidates' texts.
    """

    n: int = Field(default=16, ge=2, le=10_000, title="Candidates of a mention")
    hide_names: float = Field(default=0.0, ge=0, le=1, title="Share of mentions whose form is hidden in candidates")


class RankDevSettings(common.BaseDevSettings):
    """``[ranker.training.dev]``: what is measured to choose model-best."""

    metric: Literal["accuracy"] = Field(default="accuracy", title="Metric that selects the best model")


class RankTrainingSettings(common.BaseTrainingSettings):
    """``[ranker.training]``; the defaults are the paper's (Wiatrak et al. 2022, Table 6)."""

    batch_size: int = Field(default=4, ge=1, le=MANY, title="Mentions in one step, or groups if a group has one anchor")
    max_epochs: int = Field(default=5, ge=1, title="Passes over the training mentions")
    optimizer: common.OptimizerSettings = common.OptimizerSettings(learn_rate=2e-5, warmup=0.2)
    dev: RankDevSettings = RankDevSettings()


class RankerSettings(common.Strict):
    """``[ranker]``: the parts and the training."""

    model: Any = Field(title="The ranker: a part of the registry pel_rankers")
    loss: nn.Module | None = Field(default=None, title="Loss, for rankers that have a choice")
    anchors: nn.Module | None = Field(default=None, title="Anchors, for rankers that are trained on groups of mentions")
    regularizer: Regularizer | None = None
    candidates: CandidateSettings = CandidateSettings()
    training: RankTrainingSettings = RankTrainingSettings()


class RankRunSettings(BaseModel):
    """The sections of a config that the training of a ranker reads."""

    paths: RankPaths
    seed: int = Field(ge=0)
    ranker: RankerSettings


def read_rank_settings(path: Path, overrides: dict[str, Any] | None = None) -> RankRunSettings:
    """Read, validate and resolve a config with a [ranker] section.

    Args:
        path: a .cfg file in spaCy's format.
        overrides: dotted names to values, e.g. {"ranker.training.max_epochs": 1}.

    Returns:
        With the parts built.

    Raises:
        PelError: names every unknown or ill-typed key.
    """
    return resolve_rank_settings(load_config(path, overrides or {}), path)


def resolve_rank_settings(config: Any, path: Path) -> RankRunSettings:
    """Build the parts of a config and check its keys."""
    # a config that sets one value of the optimizer keeps the paper's others
    training = config.get("ranker", {}).get("training", {})
    if "optimizer" in training:
        defaults = RankTrainingSettings().optimizer.model_dump()
        training["optimizer"] = {**defaults, **training["optimizer"]}
    return common.resolve_run(RankRunSettings, "ranker", config, Errors.E390, path)


OwnRates = list[tuple[nn.Module, float]]


class RankRecipe(Protocol):
    """How one kind of ranker is trained: which batches, and what is minimised. It is built from the ranker
    and the settings, ``recipe(ranker, settings)``; its methods are called once the ranker has weights.

    parts: parts of the training, other than the ranker, that enter the fingerprint of a run.
    whole_documents: whether the mentions of a document belong together.
    """

    parts: list[Any]
    whole_documents: bool

    def objective(self) -> Any: ...  # nn.Module: a batch -> the loss and metrics for the log

    def own_rates(self) -> OwnRates: ...  # modules in it with their own learning rate

    # plans the batches, see ``Task``
    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: RankedRows, seed: int) -> Any: ...


def recipe_of(ranker: Any, settings: RankerSettings) -> RankRecipe:
    """Find the recipe of a ranker: the part of "pel_rank_recipes" with the ranker's registered name.

    Args:
        ranker: ``settings.model``.
        settings: the other parts.

    Returns:
        For this kind of ranker.

    Raises:
        PelError: if it cannot be trained, or not with these parts, or ranks fewer candidates than it is trained on.
    """
    name = getattr(ranker, "registered_name", type(ranker).__name__)
    if name not in registry.pel_rank_recipes:
        known = ", ".join(sorted(registry.parts("pel_rank_recipes").values()))
        raise PelError(Errors.E347.format(got=name, known=known))
    if ranker.top_k < settings.candidates.n:
        raise PelError(Errors.E393.format(n=settings.candidates.n, top_k=ranker.top_k))
    return registry.pel_rank_recipes.get(name)(ranker, settings)  # type: ignore[no-any-return]


def refuse(name: str, section: str, part: Any | None, why: str) -> None:
    """Raises:
    PelError: if a part is given that this kind of ranker cannot be trained with.
    """
    if part is not None:
        raise PelError(Errors.E348.format(name=name, section=section, why=why))
