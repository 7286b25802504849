"""How each kind of ranker is trained: which batches, and what is minimised."""

from functools import singledispatch
from typing import Any, List, Optional, Protocol, Tuple

import numpy as np
from torch import nn

from ...errors import Errors, PelError
from ...kb import KnowledgeBase
from ...objectives.anchors import AnchorPart
from ...objectives.anchors.all_mentions import AllMentions
from ...objectives.losses.triplet import Triplet
from ...rankers.cross_encoder import CrossEncoder
from ...rankers.dual_encoder import DualEncoder
from ..base_trainer import Planner
from .group_batches import GroupPlanner, GroupStore
from .group_objective import GroupObjective
from .rank_batches import PairStore, RankPlanner, with_gold
from .rank_candidates import Candidates, RankMentions
from .rank_objective import RankObjective
from .rank_settings import RankerSettings

OwnRates = List[Tuple[nn.Module, float]]


class RankRecipe(Protocol):
    """What training needs to know of one kind of ranker; its weights are loaded when it is asked.

    parts: what, beside the ranker, counts in the fingerprint of a run.
    whole_documents: whether the mentions of a document belong together.
    """

    parts: List[Any]
    whole_documents: bool

    def objective(self) -> Any: ...  # nn.Module: a batch -> the loss and figures for the log

    def own_rates(self) -> OwnRates: ...  # modules in it that have a learning rate of their own

    def planner(
        self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int
    ) -> Planner: ...


@singledispatch
def recipe_of(ranker: Any, settings: RankerSettings) -> RankRecipe:
    """Find out how a ranker is trained; ``recipe_of.register(MyRanker)`` adds another kind.

    ranker (Ranker): ``settings.model``.
    settings (RankerSettings): the other parts.
    RETURNS (RankRecipe): for this kind of ranker.
    RAISES (PelError): if it cannot be trained, or not with these parts.
    """
    known = ", ".join(sorted(kind.__name__ for kind in recipe_of.registry if kind is not object))
    raise PelError(Errors.E347.format(came=type(ranker).__name__, known=known))


class PairRecipe:
    """A cross-encoder reads pairs, and learns by cross-entropy over a mention's candidates."""

    whole_documents = False

    def __init__(self, ranker: CrossEncoder, settings: RankerSettings):
        why = "a cross-encoder has no vectors of mentions, and learns by cross-entropy over the candidates"
        _refuse("CrossEncoder", "loss", settings.loss, why)
        _refuse("CrossEncoder", "anchors", settings.anchors, why)
        self.ranker, self.settings = ranker, settings
        self.parts = [settings.regularizer] if settings.regularizer else []

    def objective(self) -> RankObjective:
        return RankObjective(self.ranker.tower, regularizer=self.settings.regularizer)

    def own_rates(self) -> OwnRates:
        return []

    def planner(
        self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int
    ) -> RankPlanner:
        kb_rows, offsets = with_gold(candidates, mentions.gold, self.settings.candidates.n)
        template, tokenizer = self.ranker.template, self.ranker.tokenizer
        draw = np.random.default_rng([seed, 23]).random(len(mentions))
        hidden = draw < self.settings.candidates.hide_names
        store = PairStore(
            kb, mentions, kb_rows, offsets, template=template, tokenizer=tokenizer, hidden=hidden
        )
        size, pad_id = self.settings.training.batch_size, tokenizer.pad_token_id
        return RankPlanner(store, batch_size=size, pad_id=pad_id, seed=seed)


class GroupRecipe:
    """A dual encoder reads the mentions of one entity in one document together. Without a section of
    their own the loss is a Triplet and every mention is an anchor."""

    whole_documents = True

    def __init__(self, ranker: DualEncoder, settings: RankerSettings):
        why = "perturbed entities would have to be the hardest ones of another model than the present one"
        _refuse("DualEncoder", "regularizer", settings.regularizer, why)
        similarity = ranker.encoder.similarity
        if similarity.token_level:
            raise PelError(Errors.E331.format(came=similarity.registered_name))
        self.ranker, self.settings = ranker, settings
        self.loss: nn.Module = settings.loss or Triplet()
        self.anchors: AnchorPart = settings.anchors or AllMentions()
        self.parts = [self.loss, self.anchors]

    def objective(self) -> GroupObjective:
        encoder = self.ranker.encoder
        return GroupObjective(encoder.towers, self.loss, similarity=encoder.similarity, anchors=self.anchors)

    def own_rates(self) -> OwnRates:
        return [(self.anchors, self.anchors.learn_rate)]

    def planner(
        self, kb: KnowledgeBase, mentions: RankMentions, candidates: Candidates, seed: int
    ) -> GroupPlanner:
        encoder = self.ranker.encoder
        store = GroupStore(
            kb,
            mentions,
            candidates,
            encoder=encoder,
            hidden_share=self.settings.candidates.hide_names,
            rng=np.random.default_rng([seed, 23]),
        )
        size, pad_id = self.settings.training.batch_size, encoder.tokenizer.pad_token_id
        return GroupPlanner(store, batch_size=size, pad_id=pad_id, seed=seed)


def _refuse(name: str, section: str, part: Optional[Any], why: str) -> None:
    if part is not None:
        raise PelError(Errors.E348.format(name=name, section=section, why=why))


recipe_of.register(CrossEncoder)(PairRecipe)
recipe_of.register(DualEncoder)(GroupRecipe)
