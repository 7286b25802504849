"""What training needs to know about a kind of ranker. A recipe is registered under its ranker's name."""

from typing import Any, Protocol

from torch import nn

from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...registry import registry
from ..base_trainer import Planner
from .candidates import Candidates, RankMentions
from .settings import RankerSettings

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

    def planner(self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int) -> Planner: ...


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
