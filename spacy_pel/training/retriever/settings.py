"""The ``[pel]`` section of a config: its schema, its parts, its errors."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List, Literal, Optional

from catalogue import RegistryError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from spacy.util import registry as spacy_registry
from thinc.api import Config, ConfigValidationError
from torch import nn

from ...encoders.bi_encoder import BiEncoder
from ...errors import Errors, PelError
from ...negatives import NegativeSampler
from ...negatives.mining.streaming_top_k import IndexKind
from ...objectives.mixing import Mixing
from ...objectives.regularizers import Regularizer
from ...registry import registry
from ...util.config import load_config


class Strict(BaseModel):
    """A section without unknown keys."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


class Paths(Strict):
    """Paths that a config may leave out."""

    def required(self, name: str) -> Path:
        """RETURNS (Path): the path of this name. RAISES (PelError): if it is not set."""
        path: Optional[Path] = getattr(self, name)
        if path is None:
            raise PelError(Errors.E313.format(name=name))
        return path


class PathSettings(Paths):
    """``[paths]``"""

    kb: Optional[Path] = Field(default=None, title="Knowledge base folder")
    train: Optional[Path] = Field(default=None, title="Training corpus (JSON lines)")
    dev: Optional[Path] = Field(default=None, title="Development corpus (JSON lines)")
    negatives: Optional[Path] = Field(default=None, title="Hard negatives from 'spacy-pel mine'")
    cache: Optional[Path] = Field(default=None, title="Folder of tokenised examples; default: OUTPUT/cache")


class ViewSettings(Strict):
    """``[pel.positives]``: which text stands for the right entity of an example."""

    card: float = Field(default=1.0, ge=0, title="Share of entity cards")
    name: float = Field(default=0.0, ge=0, title="Share of single names, drawn from the entity's names")
    mention: float = Field(default=0.0, ge=0, title="Share of other training mentions of the entity")
    alias_share: float = Field(
        default=0.0, ge=0, lt=1, title="Share of examples that are names without context"
    )


class OptimizerSettings(Strict):
    """``[pel.training.optimizer]``: AdamW, linear warm-up, linear decay to zero."""

    learn_rate: float = Field(default=1e-5, gt=0, title="Peak learning rate of the towers")
    proxy_learn_rate: float = Field(
        default=1e-3, gt=0, title="Peak learning rate of the loss's own parameters"
    )
    warmup: float = Field(default=0.25, ge=0, le=1, title="Share of the steps that warm up")
    weight_decay: float = Field(default=0.01, ge=0, title="Decoupled weight decay")
    epsilon: float = Field(default=1e-6, gt=0, title="AdamW's epsilon")
    clip: float = Field(default=1.0, gt=0, title="Largest l2 norm of the gradient")


class DevSettings(Strict):
    """``[pel.training.dev]``: what is measured to choose model-best."""

    n_mentions: int = Field(default=2000, ge=0, title="Mentions of the dev corpus, drawn once; 0 = all")
    n_entities: int = Field(
        default=10000, ge=0, title="Other entities beside the gold ones; 0 = the whole KB"
    )
    recall_at: List[int] = Field(default=[1, 5, 64], title="The k of recall@k")
    metric: str = Field(default="recall@1", title="What the best model is best at")


class MiningSettings(Strict):
    """``[pel.training.mining]``: when and how hard negatives are mined, for samplers that ask for them.

    The first mining comes before step 0. ``every_steps`` wins over ``every_epochs``; both 0 = never again.
    """

    every_epochs: int = Field(default=1, ge=0, title="Epochs between two minings")
    every_steps: int = Field(default=0, ge=0, title="Steps between two minings; 0 = by epochs")
    depth: int = Field(
        default=0, ge=0, title="Entities kept for each mention; 0 = as many as the sampler asks"
    )
    index: IndexKind = Field(
        default="flat", title="flat = exact; ivf = approximate, for millions of entities"
    )
    share: float = Field(
        default=1.0, gt=0, le=1, title="Share of the knowledge base embedded anew at a time, in turn"
    )


class TrainingSettings(Strict):
    """``[pel.training]``"""

    batch_size: int = Field(default=32, ge=1, title="Mentions in one step")
    max_epochs: int = Field(default=7, ge=1, title="Passes over the training mentions")
    max_steps: int = Field(default=0, ge=0, title="Stop after so many steps; 0 = by epochs")
    eval_frequency: int = Field(default=500, ge=1, title="Steps between evaluations")
    patience: int = Field(
        default=0, ge=0, title="Stop after so many evaluations without a better one; 0 = never"
    )
    accumulate_gradient: int = Field(default=1, ge=1, title="Batches per update")
    mixed_precision: Literal["no", "bf16", "fp16"] = Field(default="no", title="Autocast type")
    limit: int = Field(default=0, ge=0, title="Use only so many training mentions; 0 = all")
    optimizer: OptimizerSettings = OptimizerSettings()
    dev: DevSettings = DevSettings()
    mining: MiningSettings = MiningSettings()


class PelSettings(Strict):
    """``[pel]``: the parts and the training."""

    encoder: BiEncoder
    loss: nn.Module
    negatives: NegativeSampler
    regularizer: Optional[Regularizer] = None
    mixing: Optional[Mixing] = None
    positives: ViewSettings = ViewSettings()
    training: TrainingSettings = TrainingSettings()


class RunSettings(BaseModel):
    """All of a config that training reads; other sections are spaCy's."""

    paths: PathSettings
    seed: int
    pel: PelSettings


def read_settings(path: Path, overrides: Optional[Dict[str, Any]] = None) -> RunSettings:
    """Read, validate and resolve a training config.

    path (Path): a .cfg file in spaCy's format with a [pel] section.
    overrides (Optional[dict]): dotted names to values, e.g. {"pel.training.max_epochs": 1}.
    RETURNS (RunSettings): with the parts built.
    RAISES (PelError): names every unknown or ill-typed key.
    """
    return resolve_settings(load_config(path, overrides or {}), path)


def resolve_settings(config: Config, path: Path) -> RunSettings:
    """Build the parts of a config and check its keys."""
    if "pel" not in config:
        raise PelError(Errors.E310.format(path=path, came="it has no [pel] section"))
    with explained(Errors.E310, path):
        parts = spacy_registry.resolve({"pel": config["pel"]})
        return RunSettings(
            paths=PathSettings(**config.get("paths", {})),
            seed=config.get("system", {}).get("seed") or 0,
            pel=PelSettings(**parts["pel"]),
        )


@contextmanager
def explained(text: str, path: Path) -> Iterator[None]:
    """Turn what is wrong with a config's keys and parts into one line.

    text (str): of the error, with {path} and {came}.
    path (Path): the config.
    RAISES (PelError): names every unknown or ill-typed key, or the part that is not registered.
    """
    try:
        yield
    except ValidationError as err:
        problems = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}{_hint(e)}" for e in err.errors()]
        raise PelError(text.format(path=path, came="; ".join(problems))) from err
    except (ConfigValidationError, RegistryError) as err:  # the latter: no part of this name
        came = " ".join(str(err).split())
        meant = registry.meant(came)
        # the list of all registries says less than the one that was meant
        came = came.split(" Available names:")[0] if meant else came
        raise PelError(text.format(path=path, came=came + meant)) from err


def _hint(error: Any) -> str:
    """RETURNS (str): what a part lacks whose settings alone are given."""
    is_bare = error["type"] == "is_instance_of" and isinstance(error.get("input"), dict)
    return ' (name the part, too: its section has an "@pel_…" line)' if is_bare else ""
