"""The ``[ranker]`` section of a config: what trains a ranker."""

from pathlib import Path
from typing import Any, Dict, List, Literal, Optional

from pydantic import BaseModel, Field
from spacy.util import registry as spacy_registry
from torch import nn

from ...errors import Errors, PelError
from ...objectives.anchors import AnchorPart
from ...objectives.regularizers import Regularizer
from ...util.config import load_config
from ..retriever.settings import OptimizerSettings, Paths, Strict, explained

RankMetric = Literal["accuracy", "accuracy_mixed"]


class RankPaths(Paths):
    """``[paths]``"""

    pipeline: Optional[Path] = Field(default=None, title="Pipeline that finds the candidates")
    train: Optional[Path] = Field(default=None, title="Training corpus (JSON lines)")
    dev: Optional[Path] = Field(default=None, title="Development corpus (JSON lines)")
    cache: Optional[Path] = Field(default=None, title="Folder of the candidates; default: OUTPUT/candidates")
    mentions: List[Path] = Field(
        default=[], title="Corpora that the pipeline's index was built with; empty = the training corpus"
    )


class CandidateSettings(Strict):
    """``[ranker.candidates]``: what is ranked.

    The index may hold the very mentions that the ranker is trained on, and counts of them: with
    those in it, the right candidate of nearly every training mention stands first, and the ranker
    would learn from candidates that it never meets in use. So the documents are cut into ``folds``
    parts, and the mentions of a part get their candidates from the index without that part.

    A knowledge base that took names from the training text knows the surface of every training
    mention as a name of its entity, but not that of every new mention. ``hide_names`` leaves the
    surface of so many training mentions out of their candidates' texts.
    """

    n: int = Field(default=16, ge=2, title="Candidates of a mention")
    folds: int = Field(
        default=10, ge=0, title="Parts of the documents left out in turn; 0 = the index never saw them"
    )
    hide_names: float = Field(
        default=0.0, ge=0, le=1, title="Share of training mentions whose surface is hidden in the candidates"
    )


class RankDevSettings(Strict):
    """``[ranker.training.dev]``: what is measured to choose model-best."""

    n_mentions: int = Field(default=2000, ge=0, title="Mentions of the dev corpus, drawn once; 0 = all")
    metric: RankMetric = Field(default="accuracy", title="What the best model is best at")


class RankTrainingSettings(Strict):
    """``[ranker.training]``; the defaults are the paper's (Wiatrak et al. 2022, Table 6)."""

    batch_size: int = Field(default=4, ge=1, title="Mentions in one step, each with its candidates")
    max_epochs: int = Field(default=5, ge=1, title="Passes over the training mentions")
    max_steps: int = Field(default=0, ge=0, title="Stop after so many steps; 0 = by epochs")
    eval_frequency: int = Field(default=500, ge=1, title="Steps between evaluations")
    patience: int = Field(
        default=0, ge=0, title="Stop after so many evaluations without a better one; 0 = never"
    )
    accumulate_gradient: int = Field(default=1, ge=1, title="Batches per update")
    mixed_precision: Literal["no", "bf16", "fp16"] = Field(default="no", title="Autocast type")
    limit: int = Field(
        default=0,
        ge=0,
        title="Train on so many mentions, drawn once; 0 = all. Whole documents where mentions are grouped",
    )
    optimizer: OptimizerSettings = OptimizerSettings(learn_rate=2e-5, warmup=0.2)
    dev: RankDevSettings = RankDevSettings()


class RankerSettings(Strict):
    """``[ranker]``: the parts and the training."""

    model: Any = Field(title="The ranker: a part of the registry pel_rankers")
    loss: Optional[nn.Module] = Field(default=None, title="Of rankers that are free to choose")
    anchors: Optional[AnchorPart] = Field(
        default=None, title="What stands for the mentions of one entity in one document"
    )
    regularizer: Optional[Regularizer] = None
    candidates: CandidateSettings = CandidateSettings()
    training: RankTrainingSettings = RankTrainingSettings()


class RankRunSettings(BaseModel):
    """All of a config that the training of a ranker reads."""

    paths: RankPaths
    seed: int
    ranker: RankerSettings


def read_rank_settings(path: Path, overrides: Optional[Dict[str, Any]] = None) -> RankRunSettings:
    """Read, validate and resolve a config with a [ranker] section.

    path (Path): a .cfg file in spaCy's format.
    overrides (Optional[dict]): dotted names to values, e.g. {"ranker.training.max_epochs": 1}.
    RETURNS (RankRunSettings): with the parts built.
    RAISES (PelError): names every unknown or ill-typed key.
    """
    return resolve_rank_settings(load_config(path, overrides or {}), path)


def resolve_rank_settings(config: Any, path: Path) -> RankRunSettings:
    """Build the parts of a config and check its keys."""
    if "ranker" not in config:
        raise PelError(Errors.E390.format(path=path, came="it has no [ranker] section"))
    # a config that sets one number of the optimiser keeps the paper's others
    training = config["ranker"].get("training", {})
    defaults = RankTrainingSettings().optimizer.model_dump()
    if "optimizer" in training:
        training["optimizer"] = {**defaults, **training["optimizer"]}
    with explained(Errors.E390, path):
        parts = spacy_registry.resolve({"ranker": config["ranker"]})
        return RankRunSettings(
            paths=RankPaths(**config.get("paths", {})),
            seed=config.get("system", {}).get("seed") or 0,
            ranker=RankerSettings(**parts["ranker"]),
        )
